/// How many parts are sent at once through something that buffers, such as a proxy or a tunnel. What it has taken says
/// nothing about the line behind it, so that only answers count.
///
/// If the line behind it is slow, a part takes as long as its share of the line allows. If the store is slow to answer, or
/// each connection has its own rate, a part takes as long whatever the others do. Two answers tell which, if there were
/// more parts during the one than during the other.
///
/// It has no clock of its own.
struct AnswerPace: Sendable {
  struct Answer: Sendable, Equatable {
    var size: Int64
    /// From the beginning of the part to its answer.
    var took: Duration
    /// The same if it had had the line for itself.
    var alone: Duration
    /// Without anything left to send.
    var waited: Duration

    /// How many shared the line with it, on average, itself included.
    fileprivate var company: Double { took / max(.microseconds(1), alone) }
  }

  enum Verdict: Sendable, Equatable {
    case goesOn(Pace.Change?)
    /// Acknowledged bytes show again what the line carries, or so many parts are no longer too many.
    case over(Pace.Change)
    /// Fewer were as slow: they are needed.
    case needed(Pace.Change)
  }

  private(set) var window: Int
  /// Before only answers counted.
  let most: Int
  private let partSize: Int64
  private var last: Answer?
  /// Answers to one part at a time; after so many it is tried whether two take as long.
  private var alone = 0
  private var patience = Self.shortestPatience

  /// A rate that is barely enough for one more may be chance.
  private static let margin = 1.25
  /// What a connection of the line itself may hold, and what does not mislead anybody.
  private static let leastBuffer: Int64 = 512 << 10
  /// Parts in so different company tell whether it slows them.
  private static let otherCompany = 1.5
  private static let shortestPatience = 2
  /// Seconds that the line may need for two: that much is lost if it breaks.
  private static let longestTrial = 15.0

  init(window: Int, most: Int, partSize: Int64) {
    self.window = max(1, window)
    self.most = max(self.window, most)
    self.partSize = partSize
  }

  /// So many, whatever the answers said.
  mutating func set(_ window: Int) { self.window = max(1, window) }

  mutating func take(_ answer: Answer) -> Verdict {
    // A short one shows how long an answer takes, not what the line carries.
    guard answer.size * 2 >= partSize else { return .goesOn(nil) }
    defer { last = answer }
    let rate = Double(answer.size) / max(1e-6, answer.alone.seconds)
    if let last, isAsSlow(last, answer) {
      let seconds = Int(answer.took.seconds)
      return .needed(Pace.Change(connections: most, why: "an answer takes \(seconds) s with fewer too"))
    }
    let size = max(partSize, answer.size)
    let more = min(most, Pace.enough(rate / Self.margin, of: size))
    let text = Pace.text(rate)
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
    guard window == 1, most > 1, answer.alone.seconds * 2 <= Self.longestTrial else { return nil }
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
