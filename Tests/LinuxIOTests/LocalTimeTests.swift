import Glibc
import LinuxIO
import Testing

/// Each zone in a process of its own: `$TZ` belongs to the process.
@Suite("LocalTime")
struct LocalTimeTests {
  @Test func `in Dublin a time in the gap of spring does not exist`() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv("TZ", "Europe/Dublin", 1)
      try #require(candidates("2025-03-30 00:59:59") == [1_743_296_399])
      try #require(candidates("2025-03-30 01:00:00") == [])
      try #require(candidates("2025-03-30 01:30:00") == [])
      try #require(candidates("2025-03-30 01:59:59") == [])
      try #require(candidates("2025-03-30 02:00:00") == [1_743_296_400])
    }
  }

  @Test func `in Dublin a time in the overlap of autumn exists twice`() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv("TZ", "Europe/Dublin", 1)
      try #require(candidates("2025-10-26 00:59:59") == [1_761_436_799])
      try #require(candidates("2025-10-26 01:00:00") == [1_761_436_800, 1_761_440_400])
      try #require(candidates("2025-10-26 01:30:00") == [1_761_438_600, 1_761_442_200])
      try #require(candidates("2025-10-26 01:59:59") == [1_761_440_399, 1_761_443_999])
      try #require(candidates("2025-10-26 02:00:00") == [1_761_444_000])
      let readings = [1_761_438_600, 1_761_442_200].map { LocalTime.components(of: $0) }
      try #require(readings.map { $0?.offsetSeconds } == [3600, 0])
      try #require(readings.map { $0?.hour } == [1, 1])
    }
  }

  @Test func `half an hour of daylight saving, and a day that was left out`() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv("TZ", "Australia/Lord_Howe", 1)  // +10:30, in summer +11.
      try #require(candidates("2025-10-05 02:15:00") == [])
      try #require(candidates("2025-10-05 02:30:00") == [1_759_591_800])
      try #require(candidates("2025-04-06 01:45:00") == [1_743_864_300, 1_743_866_100])
      unsafe setenv("TZ", "Pacific/Apia", 1)  // Crossed the date line: no 30 December 2011.
      try #require(candidates("2011-12-30 12:00:00") == [])
      try #require(candidates("2011-12-31 00:00:00") == [1_325_239_200])
      try #require(candidates("2011-12-29 23:59:59") == [1_325_239_199])
    }
  }

  @Test func `what is no date has no Unix time`() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv("TZ", "UTC", 1)
      try #require(candidates("2025-02-29 00:00:00") == [])
      try #require(candidates("2024-02-29 00:00:00") == [1_709_164_800])
      try #require(candidates("2025-13-01 00:00:00") == [])
      try #require(candidates("2025-01-01 24:00:00") == [])
      try #require(candidates("2025-01-01 00:00:60") == [])
      try #require(candidates("10000-01-01 00:00:00") == [])
      try #require(candidates("1970-01-01 00:00:00") == [0])
      try #require(candidates("1969-12-31 23:59:59") == [-1])
      try #require(LocalTime.components(of: .max) == nil)
      try #require(LocalTime.components(of: .min) == nil)
    }
  }

  @Test func `every time that is shown is among the candidates of what is shown`() async {
    await #expect(processExitsWith: .success) {
      for zone in ["Europe/Dublin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"] {
        unsafe setenv("TZ", zone, 1)
        // About every 37 days and some hours from 1900 on, for 170 years.
        for unixSeconds in stride(from: Int64(-2_208_988_800), to: 3_200_000_000, by: 3_217_001) {
          let shown = try #require(LocalTime.components(of: unixSeconds))
          let candidates = LocalTime.candidates(
            year: shown.year, month: shown.month, day: shown.day, hour: shown.hour,
            minute: shown.minute, second: shown.second)
          try #require(candidates.contains(unixSeconds), "\(zone) \(unixSeconds)")
          try #require(candidates.count <= 2)
        }
      }
    }
  }

  @Test func `components are whole`() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv("TZ", "Asia/Kathmandu", 1)
      let time = try #require(LocalTime.components(of: 1_750_000_000))  // 2025-06-15 15:06:40 UTC.
      try #require(
        [time.year, time.month, time.day, time.hour, time.minute, time.second]
          == [2025, 6, 15, 20, 51, 40])
      try #require(time.weekday == 0)
      try #require(time.offsetSeconds == 20_700)
    }
  }
}

/// The candidates of "YEAR-MONTH-DAY HOUR:MINUTE:SECOND".
private func candidates(_ text: String) -> [Int64] {
  let fields = text.split { "-: ".contains($0) }.compactMap { Int($0) }
  return LocalTime.candidates(
    year: fields[0], month: fields[1], day: fields[2], hour: fields[3], minute: fields[4],
    second: fields[5])
}
