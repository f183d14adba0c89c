import MultipartBasics

/// The lines of the Trace Event Format, one event on each.
enum TraceFormat {
  static let separator = ",\n"
  private static let firstLine = "{\"generator\":\"timeline of a run\",\"displayTimeUnit\":\"ms\",\"traceEvents\":["

  /// Has the first event, so that each other one can begin with a separator.
  static var head: String { firstLine + "\n" + process(.run) }

  static func tail(_ figures: RunFigures) -> String {
    "\n],\"otherData\":" + figures.totals.encoded + "}\n"
  }

  static func line(_ slice: TraceSlice) -> String {
    JSON.object(
      head("X", slice.track, slice.from) + [
        ("dur", .int(microseconds(slice.to) - microseconds(slice.from))), ("name", .string(slice.name)),
        ("cat", .string(slice.kind.rawValue)), ("args", .object(slice.facts)),
      ]
    ).encoded
  }

  static func mark(_ text: String, at time: Duration) -> String {
    JSON.object(
      head("i", TraceTrack(.run, 1), time) + [("s", .string("g")), ("name", .string(text)), ("cat", .string("mark"))]
    ).encoded
  }

  static func counter(_ name: String, _ value: Double, at time: Duration) -> String {
    let rounded = JSON.double((value * 1000).rounded() / 1000)
    return JSON.object(
      head("C", TraceTrack(.run, 1), time) + [("name", .string(name)), ("args", .object([("value", rounded)]))]
    ).encoded
  }

  /// Before the first event of a track.
  static func names(of track: TraceTrack) -> String {
    guard track.group != .run else { return "" }
    let name = JSON.object([("name", .string("\(track.group.track) \(track.number)"))])
    return separator + process(track.group) + separator + meta("thread_name", track, name) + separator
      + meta("thread_sort_index", track, .object([("sort_index", .int(Int64(track.number)))]))
  }

  private static func process(_ group: TraceTrack.Group) -> String {
    meta("process_name", TraceTrack(group, 1), .object([("name", .string(group.title))]))
  }

  private static func meta(_ name: String, _ track: TraceTrack, _ value: JSON) -> String {
    JSON.object(head("M", track, .zero) + [("name", .string(name)), ("args", value)]).encoded
  }

  private static func head(_ phase: String, _ track: TraceTrack, _ time: Duration) -> [(String, JSON)] {
    [
      ("ph", .string(phase)), ("pid", .int(Int64(track.group.rawValue))), ("tid", .int(Int64(track.number))),
      ("ts", .int(microseconds(time))),
    ]
  }

  /// Whether a line can be the first of a trace.
  static func begins(_ line: ArraySlice<UInt8>) -> Bool { line.elementsEqual(firstLine.utf8) }

  private static func microseconds(_ time: Duration) -> Int64 {
    let (seconds, atto) = time.bounded.components
    return seconds * 1_000_000 + atto / 1_000_000_000_000
  }
}
