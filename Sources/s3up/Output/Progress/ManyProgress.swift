import MultipartBasics
import MultipartCore

/// Renders the progress of a batch: a line for each object being transferred, and the total.
struct ManyProgress: Sendable {
  /// How many objects have a line.
  private static let mostLines = 8
  /// An object that takes less time than this would only flicker.
  private static let shortest = Duration.seconds(1)

  private var meter = ProgressMeter()
  /// The rate of the bytes that are done with, whether they were sent or not.
  private var ends = RateMeter()
  /// When each object started.
  private var since: [String: Duration] = [:]
  private var batch: BatchState?
  private var total = ProgressState(name: "", total: nil)
  private var now = Duration.zero

  /// Call it at each tick.
  mutating func measure(_ batch: BatchState, at now: Duration) {
    (self.batch, self.now) = (batch, now)
    var kept: [String: Duration] = [:]
    for running in batch.running { kept[running.source] = since[running.source] ?? now }
    since = kept
    var whole = ProgressState(name: "", total: batch.foundAll ? batch.foundBytes : nil)
    (whole.done, whole.transferred, whole.connections) = (batch.ended, batch.transferred, batch.connections)
    let activities = batch.running.map(\.state.activity)
    // As long as one of them gets answers, the whole does.
    let sending = activities.filter(\.isSending)
    whole.activity = sending.first { !$0.isAgain } ?? sending.first ?? activities.first ?? .sending
    total = meter.measure(whole, at: now)
    total.done = batch.bytes
    ends.add(batch.ended, at: now)
    if total.words == nil, batch.foundAll { total.eta = ends.eta(remaining: batch.remaining) }
  }

  /// At most `rows` lines of at most `width` columns; the last one is the total.
  func lines(width: Int, rows: Int) -> [String] {
    let slow = (batch?.running ?? []).filter {
      $0.state.activity != .starting && now - (since[$0.source] ?? now) >= Self.shortest
    }
    let room = max(0, min(Self.mostLines, rows - 2))
    var lines = slow.prefix(room).map { running in
      var state = ProgressState(running.source, running.state)
      state.pause(at: now)
      return ProgressLine.draw(state, width: width)
    }
    if slow.count > room, room > 0 { lines.append(TextWidth.cut("and \(slow.count - room) more", to: width)) }
    return lines + [ProgressLine.fit(fields(total.shortened(width)), width: width).joined(separator: "  ")]
  }

  /// The total, for a log.
  var plain: String { fields(total).map(\.text).joined(separator: ", ") }

  /// The progress, 0...1; nil while it is not known.
  var fraction: Double? {
    guard let batch, batch.foundAll, batch.foundBytes > 0 else { return nil }
    return Double(max(0, batch.ended)) / Double(batch.foundBytes)
  }

  /// The total in the title of a terminal.
  var title: String {
    let done = fraction.map { ProgressLine.percent($0) + " " } ?? ""
    return done + (batch.map(files) ?? "") + " — s3up"
  }

  private func files(_ batch: BatchState) -> String {
    let summary = batch.summary
    let arrived = summary.uploaded + summary.downloaded + summary.verified
    let ended = arrived + summary.unchanged + summary.existing + summary.failed
    return "\(ended) of \(batch.found)\(batch.foundAll ? "" : "+") files"
  }

  private func fields(_ total: ProgressState) -> [ProgressLine.Field] {
    guard let batch else { return [] }
    let summary = batch.summary
    let bytes = Human.size(batch.foundBytes)
    var fields: [ProgressLine.Field] = []
    if let fraction { fields.append((ProgressLine.percent(fraction), 0)) }
    fields.append((files(batch), 1))
    fields.append(("\(Human.size(total.done)) of \(bytes)\(batch.foundAll ? "" : "+")", 4))
    if summary.failed > 0 { fields.append(("\(summary.failed) failed", 2)) }
    if let words = total.words { fields.append((words, 3)) }
    if let rate = total.rate { fields.append((Human.rate(rate), 5)) }
    if let eta = total.eta { fields.append(("ETA " + Human.clock(eta), 3)) }
    if batch.connections > 0 { fields.append((Human.count(batch.connections, "connection"), 6)) }
    return fields
  }
}

extension BatchState {
  /// Bytes that are done with: at the store, there before, or failed. Unlike the bytes that were sent, they add up to
  /// the total.
  var ended: Int64 { foundBytes - remaining }
}
