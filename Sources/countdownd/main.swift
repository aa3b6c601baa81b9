import DaemonHost
import LinuxIO

StandardStream.fillGaps()
CurrentProcess.exit(Daemon.run(arguments: CurrentProcess.arguments))
