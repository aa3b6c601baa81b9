import DaemonHost
import LinuxIO

CurrentProcess.exit(Daemon.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
