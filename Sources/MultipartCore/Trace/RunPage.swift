import MultipartBasics

/// One self-contained page about one run, to be attached to the question of why it was slow. Its policy allows no script, no
/// request, and no style but its own.
struct RunPage {
  static let firstLine = "<!doctype html><!-- report of a run -->"

  let figures: RunFigures
  let title: String
  /// What was to be done, and why.
  let plan: [String]
  /// How it ended.
  let end: [String]
  let nonce: String

  var lines: [String] {
    let title = Escaped.html(SafeText.oneLine(title))
    return [
      Self.firstLine, "<html lang=\"en\"><head><meta charset=\"utf-8\">",
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-\(nonce)'; "
        + "base-uri 'none'; form-action 'none'\">",
      "<meta name=\"viewport\" content=\"width=device-width\"><title>\(title)</title>",
      "<style nonce=\"\(nonce)\">\(RunChart.style)</style></head><body>",
      "<h1>\(title)</h1>",
    ] + end.map { Self.paragraph($0) } + totals + timeline + rate + times + retries + failures + decisions + line
      + ["</body></html>"]
  }

  private var totals: [String] {
    let average =
      figures.took > .zero ? Double(figures.bytesSent + figures.bytesReceived) / (figures.took / .seconds(1)) : 0
    return table(
      nil,
      [
        ("began", "\(figures.started.iso8601)"), ("took", RunChart.exact(figures.took)),
        ("bytes sent", "\(figures.bytesSent) (\(Human.size(figures.bytesSent)))"),
        ("bytes received", "\(figures.bytesReceived) (\(Human.size(figures.bytesReceived)))"),
        ("on average", Human.rate(average)), ("objects", "\(figures.objects), \(figures.failedObjects) failed"),
        ("parts", "\(figures.parts)"), ("requests", "\(figures.requests), \(figures.failedRequests) failed"),
        ("retries", "\(figures.retries)"),
      ])
  }

  private var timeline: [String] {
    let chart = RunChart(figures)
    let picture = figures.picture
    let isJoined = picture.grain > .zero
    let joined = "Neighbours on a track that are closer than \(RunChart.exact(picture.grain)) are drawn as one."
    return heading("What happened when") + chart.legend + chart.timeline
      + (isJoined ? [Self.paragraph(joined)] : [])
      + (chart.hidden + picture.leftOut > 0
        ? [Self.paragraph("More tracks than fit here are not drawn; a trace has them.")] : [])
      + [
        Self.paragraph(
          "If one part takes longer than its neighbours, its connection was slow; if all do, the line is. If answers take "
            + "long, the store is slow. Gaps are waits; their causes are below.")
      ]
  }

  private var rate: [String] { heading("Rate") + RunChart(figures).rate }

  private var times: [String] {
    let rows = TraceSlice.Kind.allCases.compactMap { kind in
      figures.times[kind].map { (RunChart.words(kind), RunChart.exact($0)) }
    }
    return heading("Where the time went") + table("all tracks together", rows)
  }

  private var retries: [String] {
    let rows = figures.causes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, "\($0.value)") }
    return heading("Retries by cause")
      + (rows.isEmpty ? [Self.paragraph("Nothing was tried again.")] : table(nil, rows))
  }

  private var failures: [String] {
    guard !figures.failures.isEmpty else { return [] }
    let more = figures.failedObjects - figures.failures.count
    return heading("What failed") + table(nil, figures.failures.map { ($0.name, $0.why) })
      + (more > 0 ? [Self.paragraph("And \(more) more.")] : [])
  }

  private var decisions: [String] {
    let marks = figures.marks.map { (RunChart.exact($0.at), $0.text) }
    let more = figures.marksLeftOut > 0 ? [Self.paragraph("And \(figures.marksLeftOut) more.")] : []
    return heading("The plan, and why") + ["<pre>"] + plan.map { Escaped.html(SafeText.oneLine($0)) } + ["</pre>"]
      + (marks.isEmpty ? [] : table("What was decided on the way", marks)) + more
  }

  private var line: [String] {
    let heading = heading("What was learned of the line")
    guard let line = figures.line else { return heading + [Self.paragraph("Nothing: the run was too short to look.")] }
    let lost = line.segments > 0 ? 100 * Double(line.lost) / Double(line.segments) : 0
    let shown = "\(Int64(lost)).\(Int64(lost * 100) % 100 < 10 ? "0" : "")\(Int64(lost * 100) % 100) %"
    func milliseconds(_ time: Duration) -> String {
      let tenths = Int64((time / .milliseconds(1) * 10).rounded())
      return time == .zero ? "not known" : "\(tenths / 10).\(tenths % 10) ms"
    }
    return heading
      + table(
        nil,
        [
          ("connections", "\(line.connections) at the end, \(line.mostConnections) at most"),
          ("shortest round trip", milliseconds(line.leastTrip)),
          ("round trip at the end", milliseconds(line.roundTrip)),
          ("packets lost", "\(line.lost) of \(line.segments) (\(shown))"),
        ] + line.lessons.map { ("remembered", $0) })
  }

  private func heading(_ text: String) -> [String] { ["<h2>\(text)</h2>"] }

  private static func paragraph(_ text: String) -> String { "<p>\(Escaped.html(SafeText.oneLine(text)))</p>" }

  private func table(_ caption: String?, _ rows: [(String, String)]) -> [String] {
    ["<table>" + (caption.map { "<caption>\(Escaped.html($0))</caption>" } ?? "")]
      + rows.map { name, value in
        "<tr><th>\(Escaped.html(SafeText.oneLine(name)))</th><td>\(Escaped.html(SafeText.oneLine(value)))</td></tr>"
      } + ["</table>"]
  }
}
