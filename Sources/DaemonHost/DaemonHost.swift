// DaemonHost
