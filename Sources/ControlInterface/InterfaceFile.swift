/// The interface as clients read it: `io.countdownd.Countdown.varlink`, which is part of the program.
package enum InterfaceFile {
  /// The interface's name.
  package static let name = "io.countdownd.Countdown"

  /// The text of the file, UTF-8.
  package static var text: [UInt8] { PackageResources.io_countdownd_Countdown_varlink }
}
