// TimingWheel
