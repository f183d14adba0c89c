import MultipartBasics

/// The drawings of a report, as SVG: each element on a line of its own.
struct RunChart {
  private static let labels = 170
  private static let width = 1160
  private static let row = 15
  private static let top = 24
  private var plot: Double { Double(Self.width - Self.labels - 45) }

  private let figures: RunFigures
  private let rows: [TraceTrack]
  /// Tracks for which there is no room.
  let hidden: Int
  private let seconds: Double

  init(_ figures: RunFigures) {
    self.figures = figures
    let groups = Dictionary(grouping: figures.picture.tracks.keys, by: \.group)
    rows = groups.flatMap { group, tracks in tracks.sorted().prefix(Self.most(group)) }.sorted()
    hidden = figures.picture.tracks.count - rows.count
    seconds = max(0.001, figures.took / .seconds(1))
  }

  private static func most(_ group: TraceTrack.Group) -> Int {
    switch group {
    case .connections: 64
    case .waits, .objects: 16
    case .phases: 4
    case .unconnected, .work, .run: 8
    }
  }

  static func words(_ kind: TraceSlice.Kind) -> String {
    switch kind {
    case .object: "objects under way"
    case .phase: "phases of objects"
    case .assembly: "assembly at the store"
    case .part: "parts and ranges"
    case .answer: "waiting for the store's answer"
    case .request: "other requests"
    case .failed: "failed"
    case .stopped: "stopped"
    case .connect: "connecting"
    case .retry: "waits before retries"
    case .wait: "other waits"
    case .work: "work on this machine"
    }
  }

  private static let colors: [(TraceSlice.Kind, String)] = [
    (.object, "#8a97a6"), (.phase, "#c3ccd6"), (.assembly, "#8e63ce"), (.part, "#3a7bd5"), (.answer, "#b3cdf0"),
    (.request, "#6fc3df"),
    (.failed, "#d63b3b"), (.stopped, "#b98ab0"), (.connect, "#e8923d"), (.retry, "#f0c419"), (.wait, "#f3df9a"),
    (.work, "#3f9b54"),
  ]

  static let style =
    "body{font:14px/1.45 system-ui,sans-serif;max-width:1180px;margin:24px auto;padding:0 12px;color:#1d2733;"
    + "background:#fff}h1{font-size:20px;overflow-wrap:anywhere}h2{font-size:16px;margin:28px 0 8px}"
    + "table{border-collapse:collapse}caption{text-align:left;color:#5a6673;padding:6px 0}"
    + "th{text-align:left;font-weight:400;color:#3c4753;padding:2px 24px 2px 0;vertical-align:top;overflow-wrap:anywhere}"
    + "td{padding:2px 0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}"
    + "pre{background:#f4f6f8;padding:10px;overflow:auto}svg{width:100%;height:auto;background:#fafbfc}"
    + "text{font:11px system-ui,sans-serif;fill:#3c4753}.g{stroke:#dfe4ea}.l span{margin-right:14px;white-space:nowrap}"
    + ".l svg{width:11px;height:11px;vertical-align:-1px;margin-right:5px}.rate{fill:#3a7bd5}"
    + colors.map { "._\($0.rawValue){fill:\($1)}" }.joined()

  /// Of what was seen.
  var legend: [String] {
    let seen = Self.colors.map(\.0).filter { figures.times[$0] != nil }
    let items = seen.map { kind in
      "<span><svg viewBox=\"0 0 1 1\"><rect width=\"1\" height=\"1\" class=\"_\(kind.rawValue)\"/></svg>\(Self.words(kind))</span>"
    }
    return ["<p class=\"l\">"] + items + ["</p>"]
  }

  // MARK: - What happened when

  var timeline: [String] {
    let height = Self.top + rows.count * Self.row + 6
    var out = [
      "<svg viewBox=\"0 0 \(Self.width) \(height)\" role=\"img\" aria-label=\"what happened when\">"
    ]
    out += ticks(height)
    for (index, track) in rows.enumerated() {
      let y = Self.top + index * Self.row
      out.append("<text x=\"4\" y=\"\(y + 11)\">\(track.group.track) \(track.number)</text>")
      let pieces = (figures.picture.tracks[track] ?? []).sorted {
        ($0.kind == .failed ? 1 : 0, $0.from) < ($1.kind == .failed ? 1 : 0, $1.from)
      }
      out += pieces.map { drawn($0, y) }
    }
    return out + ["</svg>"]
  }

  private func drawn(_ piece: TracePicture.Piece, _ y: Int) -> String {
    let (from, to) = (x(piece.from), x(piece.to))
    var words = piece.count > 1 ? "\(piece.count) times, \(piece.name) first" : piece.name
    words += ": from \(Self.exact(piece.from)) to \(Self.exact(piece.to))"
    if piece.bytes > 0 { words += ", \(Human.size(piece.bytes))" }
    if let why = piece.why { words += ", \(why)" }
    return "<rect x=\"\(Self.number(from))\" y=\"\(y + 1)\" width=\"\(Self.number(max(0.7, to - from)))\" "
      + "height=\"\(Self.row - 3)\" class=\"_\(piece.kind.rawValue)\"><title>\(Escaped.html(SafeText.oneLine(words)))"
      + "</title></rect>"
  }

  private func x(_ time: Duration) -> Double { Double(Self.labels) + plot * min(1, (time / .seconds(1)) / seconds) }

  private func ticks(_ height: Int) -> [String] {
    let step = Self.round(seconds / 8)
    return stride(from: 0, through: seconds, by: step).flatMap { at in
      let x = Self.number(Double(Self.labels) + plot * at / seconds)
      return [
        "<line class=\"g\" x1=\"\(x)\" y1=\"18\" x2=\"\(x)\" y2=\"\(height)\"/>",
        "<text x=\"\(x)\" y=\"13\">\(Self.time(at, step: step))</text>",
      ]
    }
  }

  /// 1, 2 or 5 times a power of ten that is no less.
  static func round(_ value: Double) -> Double {
    var power = 1.0
    while power < value { power *= 10 }
    while power / 10 >= value { power /= 10 }
    return [0.2, 0.5, 1].map { $0 * power }.first { $0 >= value } ?? power
  }

  private static func time(_ seconds: Double, step: Double) -> String {
    step >= 1
      ? Human.clock(.milliseconds(Int64(seconds * 1000))) : exact(.milliseconds(Int64((seconds * 1000).rounded())))
  }

  /// `1.234 s`
  static func exact(_ time: Duration) -> String {
    let thousandths = Int64((time / .milliseconds(1)).rounded())
    guard thousandths < 600_000 else { return Human.clock(time) }
    let rest = String(thousandths % 1000)
    return "\(thousandths / 1000).\(String(repeating: "0", count: 3 - rest.utf8.count))\(rest) s"
  }

  private static func number(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  // MARK: - Rate

  var rate: [String] {
    let height = 130
    let rates = figures.rates
    let step = rates.step / .seconds(1)
    let most = max(1, (rates.bytes.max() ?? 0))
    var out = ["<svg viewBox=\"0 0 \(Self.width) \(height)\" role=\"img\" aria-label=\"rate over time\">"]
    out += ticks(height)
    out.append("<text x=\"4\" y=\"32\">\(Human.rate(Double(most) / step))</text>")
    out.append("<text x=\"4\" y=\"\(height - 4)\">0</text>")
    for (index, bytes) in rates.bytes.enumerated() where bytes > 0 {
      let (from, to) = (x(rates.step * index), x(rates.step * (index + 1)))
      let tall = Double(height - Self.top) * Double(bytes) / Double(most)
      let at = Self.exact(rates.step * index)
      out.append(
        "<rect class=\"rate\" x=\"\(Self.number(from))\" y=\"\(Self.number(Double(height) - tall))\" "
          + "width=\"\(Self.number(max(0.7, to - from)))\" height=\"\(Self.number(tall))\">"
          + "<title>\(at): \(Human.rate(Double(bytes) / step))</title></rect>")
    }
    return out + ["</svg>"]
  }
}
