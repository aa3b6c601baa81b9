# adjtimex(2): what the kernel's own clock discipline is told. Python's has no such call.
#
#   perl adjtimex.pl                 changes nothing; shows that it may be called
#   perl adjtimex.pl STATUS          sets the status, and says that the clock may be 1 ms wrong
my %number = (x86_64 => 159, aarch64 => 171);
chomp(my $machine = `uname -m`);
# modes, offset, freq, maxerror, esterror, status, and more that stays 0.
my $modes = @ARGV ? 0x0010 | 0x0004 | 0x0008 : 0;  # ADJ_STATUS, ADJ_MAXERROR, ADJ_ESTERROR
my $timex = pack('L x4 q q q q l x4', $modes, 0, 0, 1000, 1000, @ARGV ? oct $ARGV[0] : 0) . "\0" x 464;
exit(syscall($number{$machine}, $timex) < 0 ? 1 : 0);
