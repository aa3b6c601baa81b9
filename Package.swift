// swift-tools-version: 6.2
import PackageDescription

/// Every target is built alike: warnings are errors, unsafe code says so, imports are internal.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),  // For our own views over a Span: the JSON scanner.
]

let package = Package(
  name: "countdownd",
  products: [
    .executable(name: "countdownd", targets: ["countdownd"]),
    .executable(name: "countdownctl", targets: ["countdownctl"]),
    .executable(name: "countdown-bench", targets: ["countdown-bench"]),
  ],
  targets: [
    // The pure columns: no files, no clock, no locale. Neither Glibc nor Foundation.
    .target(name: "TimingWheel", swiftSettings: strict),
    .target(name: "JSON", swiftSettings: strict),
    .target(name: "SystemdSyntax", swiftSettings: strict),
    .target(name: "Countdowns", dependencies: ["TimingWheel"], swiftSettings: strict),
    .target(
      name: "Configuration", dependencies: ["Countdowns", "SystemdSyntax"], swiftSettings: strict),
    .target(name: "Varlink", dependencies: ["JSON"], swiftSettings: strict),
    .target(
      name: "ControlInterface", dependencies: ["Countdowns", "TimingWheel", "Varlink", "JSON"],
      resources: [.embedInCode("io.countdownd.Countdown.varlink")], swiftSettings: strict),
    .target(
      name: "CountdownService",
      dependencies: ["ControlInterface", "Countdowns", "TimingWheel", "Varlink", "JSON"],
      swiftSettings: strict),

    // The edges: each C module is imported by exactly one Swift module.
    .target(name: "CLinux"),
    .systemLibrary(
      name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .target(name: "LinuxIO", dependencies: ["CLinux"], swiftSettings: strict),
    .target(name: "Systemd", dependencies: ["CSystemd", "LinuxIO"], swiftSettings: strict),

    // Where they meet.
    .target(
      name: "DaemonHost",
      dependencies: [
        "CountdownService", "ControlInterface", "Configuration", "SystemdSyntax", "Countdowns",
        "TimingWheel", "LinuxIO", "Systemd",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "countdownd", dependencies: ["DaemonHost", "LinuxIO"], swiftSettings: strict),
    .target(
      name: "ControlClient", dependencies: ["JSON", "SystemdSyntax", "LinuxIO"],
      swiftSettings: strict),
    .executableTarget(
      name: "countdownctl",
      dependencies: ["ControlClient", "ControlInterface", "JSON", "SystemdSyntax", "LinuxIO"],
      swiftSettings: strict),
    .executableTarget(
      name: "countdown-bench",
      dependencies: [
        "ControlClient", "CountdownService", "TimingWheel", "Countdowns", "JSON", "LinuxIO",
      ],
      swiftSettings: strict),

    // The tests, module for module.
    .target(
      name: "TestSupport",
      dependencies: ["CountdownService", "ControlInterface", "Countdowns", "TimingWheel"],
      path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(
      name: "TimingWheelTests", dependencies: ["TimingWheel", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "JSONTests", dependencies: ["JSON", "TestSupport"], exclude: ["Cases"],
      swiftSettings: strict),
    .testTarget(
      name: "SystemdSyntaxTests", dependencies: ["SystemdSyntax", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: [
        "Configuration", "CountdownService", "Countdowns", "SystemdSyntax", "LinuxIO",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "DaemonHostTests",
      dependencies: [
        "DaemonHost", "Configuration", "Countdowns", "TimingWheel", "LinuxIO", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CountdownsTests", dependencies: ["Countdowns", "TimingWheel", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "VarlinkTests", dependencies: ["Varlink", "JSON", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ControlInterfaceTests",
      dependencies: [
        "ControlInterface", "CountdownService", "Countdowns", "Varlink", "JSON", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CountdownServiceTests",
      dependencies: ["CountdownService", "Countdowns", "TimingWheel", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "SimulationTests",
      dependencies: ["CountdownService", "Countdowns", "TimingWheel", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LinuxIOTests", dependencies: ["LinuxIO", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "countdownd", "countdownctl", "ControlClient", "LinuxIO", "JSON", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SystemdTests", dependencies: ["Systemd", "LinuxIO", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ControlClientTests",
      dependencies: ["ControlClient", "JSON", "SystemdSyntax", "LinuxIO", "TestSupport"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
