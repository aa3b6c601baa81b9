import LinuxIO

do {
  let options = try Options(Array(CurrentProcess.arguments.dropFirst()))
  switch options.workload {
  case "wheel": WheelWorkload.run(options)
  case "lateness": try LatenessWorkload.run(options)
  case "--help", "help": print(Options.help, terminator: "")
  default: throw Options.UsageError(text: "no workload is named \(options.workload)")
  }
} catch let error as Options.UsageError {
  try StandardStream.error.write("countdown-bench: \(error.text)\n\n\(Options.help)")
  CurrentProcess.exit(2)
}
