import LinuxIO

do {
  guard let arguments = CurrentProcess.arguments else {
    throw Options.UsageError(text: "an argument is no UTF-8")
  }
  let options = try Options(arguments)
  switch options.workload {
  case "wheel": WheelWorkload.run(options)
  case "lateness": try LatenessWorkload.run(options)
  case "crowd": try CrowdWorkload.run(options)
  case "fanout": try FanoutWorkload.run(options)
  case "list": try ListWorkload.run(options)
  case "watch": try WatchWorkload.run(options)
  case "--help", "help": print(Options.help, terminator: "")
  default: throw Options.UsageError(text: "no workload is named \(options.workload)")
  }
} catch let error as Options.UsageError {
  try StandardStream.error.write("countdown-bench: \(error.text)\n\n\(Options.help)")
  CurrentProcess.exit(2)
} catch {
  try StandardStream.error.write("countdown-bench: \(error)\n")
  CurrentProcess.exit(1)
}
