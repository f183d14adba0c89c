import Foundation
import Support
import Testing

/// A trace as a viewer reads it.
struct Trace {
  struct Slice {
    var track: [Int]
    var name: String
    var kind: String
    var from: Int
    var to: Int
    var facts: [String: Any]
    var bytes: Int { facts["bytes"] as? Int ?? 0 }
  }

  let slices: [Slice]
  /// Of each process, by its number.
  let groups: [Int: String]
  let totals: [String: Any]

  init(_ text: Data) throws {
    let root = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
    totals = try #require(root["otherData"] as? [String: Any])
    let events = try #require(root["traceEvents"] as? [[String: Any]])
    var groups: [Int: String] = [:]
    slices = try events.compactMap { event in
      let (pid, tid) = (try #require(event["pid"] as? Int), try #require(event["tid"] as? Int))
      let name = try #require(event["name"] as? String)
      if name == "process_name" { groups[pid] = (event["args"] as? [String: Any])?["name"] as? String }
      guard event["ph"] as? String == "X" else { return nil }
      let from = try #require(event["ts"] as? Int)
      return Slice(
        track: [pid, tid], name: name, kind: try #require(event["cat"] as? String), from: from,
        to: from + (try #require(event["dur"] as? Int)), facts: event["args"] as? [String: Any] ?? [:])
    }
    self.groups = groups
  }

  func slices(_ kind: String, of group: String? = nil) -> [Slice] {
    slices.filter { $0.kind == kind && (group == nil || groups[$0.track[0]] == group) }
  }

  func total(_ name: String) -> Int? { totals[name] as? Int }
  var seconds: Double { totals["seconds"] as? Double ?? -1 }

  /// Slices of one track follow one another, all of them within the run, and each track's process has a name.
  func expectSound(where location: SourceLocation = #_sourceLocation) {
    #expect(!slices.isEmpty, sourceLocation: location)
    for (track, slices) in Dictionary(grouping: slices, by: \.track) {
      #expect(groups[track[0]] != nil, sourceLocation: location)
      var end = 0
      for slice in slices.sorted(by: { ($0.from, $0.to) < ($1.from, $1.to) }) {
        #expect(slice.from >= end && slice.to >= slice.from, "\(track): \(slice)", sourceLocation: location)
        end = slice.to
      }
      #expect(Double(end) / 1e6 <= seconds + 0.001, sourceLocation: location)
    }
  }

  /// Its slices come to what the result says, and so do its totals.
  func expectAgrees(
    with result: [String: Any], bytes name: String, where location: SourceLocation = #_sourceLocation
  ) {
    func number(_ name: String) -> Int? { result[name] as? Int }
    let moved = slices.reduce(0) { $0 + $1.bytes }
    #expect(number(name) == moved && total(name) == moved, "\(result) \(totals)", sourceLocation: location)
    let retries = slices("retry").count
    #expect(number("retries") == retries && total("retries") == retries, "\(result)", sourceLocation: location)
    let causes = (totals["causes"] as? [String: Int] ?? [:]).values.reduce(0, +)
    #expect(causes == retries, sourceLocation: location)
    #expect(total("parts") == slices("part").count, sourceLocation: location)
    #expect(seconds >= (result["seconds"] as? Double ?? .infinity) - 0.001, "\(result)", sourceLocation: location)
  }
}

extension BlackBox {
  func trace(_ name: String = "trace.json") throws -> Trace { try Trace(Data(try files.read(name))) }

  func page(_ name: String = "report.html") throws -> String {
    let page = String(decoding: try files.read(name), as: UTF8.self)
    #expect(page.hasSuffix("\n</body></html>\n"))
    return page
  }

  static let traced = ["--json", "--trace", "trace.json", "--report", "report.html"]

  /// For whoever checks traces outside of the tests: a folder with what this run has written.
  func keepTrace(_ name: String, _ result: ChildProcess.Result) throws {
    guard let folder = ProcessInfo.processInfo.environment["S3UP_TRACES"] else { return }
    let place = URL(fileURLWithPath: folder).appendingPathComponent(name)
    try? FileManager.default.removeItem(at: place)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    for file in ["trace.json", "report.html"] {
      try Data(try files.read(file)).write(to: place.appendingPathComponent(file))
    }
    try Data(result.output.utf8).write(to: place.appendingPathComponent("result.jsonl"))
  }
}
