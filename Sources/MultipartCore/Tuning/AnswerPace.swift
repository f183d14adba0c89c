import MultipartBasics

/// Decides how many parts are sent at once through something that buffers, such as a proxy or a tunnel. The bytes that
/// it has accepted say nothing about the line behind it, so only answers count.
///
/// If the line behind it is slow, the time for a part depends on its share of the line. If the store is slow to answer,
/// or each connection has its own rate, a part takes the same time regardless of the others. Two answers show which is
/// the case, if more parts were in flight during one of them than during the other.
///
/// It has no clock of its own.
struct AnswerPace: Sendable {
  struct Answer: Sendable, Equatable {
    var size: Int64
    /// The time from the beginning of the part to its answer.
    var took: Duration
    /// The time that the part would have taken with the line to itself.
    var alone: Duration
    /// The time without anything left to send.
    var waited: Duration

    /// How many parts shared the line with it, on average, including itself.
    fileprivate var company: Double { took / max(.microseconds(1), alone) }
  }

  enum Verdict: Sendable, Equatable {
    case goesOn(Pace.Change?)
    /// Acknowledged bytes show again what the line carries, or the number of parts is no longer too high.
    case over(Pace.Change)
    /// Fewer parts were just as slow: the former number is needed.
    case needed(Pace.Change)
  }

  private(set) var window: Int
  /// The number before only answers counted.
  let most: Int
  private let partSize: Int64
  private var last: Answer?
  /// How many answers arrived to one part at a time; after a few, it is tried whether two take as long.
  private var alone = 0
  private var patience = Self.shortestPatience

  /// A buffer that a connection of the line itself may have, and that does no harm.
  private static let leastBuffer: Int64 = 512 << 10
  /// How much the average number of parts must differ for two answers to show whether it slows them.
  private static let otherCompany = 1.5
  private static let shortestPatience = 2

  init(window: Int, most: Int, partSize: Int64) {
    self.window = max(1, window)
    self.most = max(self.window, most)
    self.partSize = partSize
  }

  /// Sets the number of parts, regardless of the answers.
  mutating func set(_ window: Int) { self.window = max(1, window) }

  mutating func take(_ answer: Answer) -> Verdict {
    // A short part shows how long an answer takes, not what the line carries.
    guard answer.size * 2 >= partSize else { return .goesOn(nil) }
    defer { last = answer }
    let rate = Double(answer.size) / max(1e-6, answer.alone.seconds)
    if let last, isAsSlow(last, answer) {
      let seconds = Int(answer.took.seconds)
      return .needed(Pace.Change(connections: most, why: "an answer takes \(seconds) s with fewer too"))
    }
    let size = max(partSize, answer.size)
    let more = min(most, Pace.enough(rate / Pace.margin, of: size))
    let text = Human.rate(rate)
    if more == most { return .over(Pace.Change(connections: most, why: "\(text) by the answers: the line takes more")) }
    if Double(answer.size) * (answer.waited / answer.took) < Double(Self.leastBuffer) {
      return .over(Pace.Change(connections: max(window, more), why: "\(text), and nothing waits on the way"))
    }
    let wanted = more > window ? more : min(window, Pace.enough(rate, of: size))
    guard wanted != window else { return .goesOn(tryTwo(answer, text)) }
    window = wanted
    return .goesOn(Pace.Change(connections: wanted, why: "\(text) by the answers"))
  }

  private mutating func tryTwo(_ answer: Answer, _ text: String) -> Pace.Change? {
    guard window == 1, most > 1, answer.alone.seconds * 2 <= Pace.longestTrial else { return nil }
    alone += 1
    guard alone >= patience else { return nil }
    (alone, patience) = (0, patience * 4)
    window = 2
    return Pace.Change(connections: 2, why: "\(text) by the answers, trying whether two take as long")
  }

  private func isAsSlow(_ a: Answer, _ b: Answer) -> Bool {
    guard a.size == b.size else { return false }
    func apart(_ x: Double, _ y: Double) -> Double { max(x, y) / max(1e-6, min(x, y)) }
    return apart(a.company, b.company) >= Self.otherCompany
      && apart(a.took.seconds, b.took.seconds) < apart(a.alone.seconds, b.alone.seconds)
  }
}
