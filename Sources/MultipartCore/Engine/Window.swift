/// How many transfers may run at once.
struct Window: Sendable {
  private(set) var width: Int
  private let concurrency: Int
  private let bounds: Pace.Bounds?
  private var pace: Pace?
  /// The pace of objects, since the first small transfers.
  private var objectPace: ObjectPace?
  /// The pace by answers, while only these show what the line carries.
  private var answerPace: AnswerPace?
  private var carriesSmall = false
  private let mostSmall: Int?
  private let buffers: Buffers
  private(set) var partSize: Int64
  private var successes = 0
  private var lastNarrowing: Duration?

  init(_ settings: RunSettings, partSize: Int64) {
    concurrency = max(1, settings.concurrency)
    bounds = settings.pace
    mostSmall = settings.mostSmall
    buffers = settings.buffers
    self.partSize = partSize
    width = concurrency
    recut(partSize)
  }

  /// Sets a different part size while nothing is being sent. If parts are smaller than `before`, more are started, so
  /// that they have as many bytes.
  mutating func recut(_ partSize: Int64, before: Int64? = nil) {
    self.partSize = partSize
    pace = bounds.map { Pace($0.scaled(from: before ?? partSize, to: partSize), partSize: partSize) }
    answerPace = nil
    width = most
    if buffers == .known { countOnlyAnswers(width) }
  }

  /// Whether the store has asked for less, and the window has not grown back yet.
  var isNarrowed: Bool { width < most }
  /// Whether the limit may determine the rate.
  var mayBeHeldByLimit: Bool { pace?.isHeldByLimit != false }

  var lineIsLossy: Bool { pace?.isLossy == true }

  private var most: Int {
    (carriesSmall ? objectPace?.window : answerPace?.window) ?? pace?.window ?? concurrency
  }

  var backlog: Pace.Backlog? { carriesSmall || answerPace != nil ? nil : pace?.backlog }

  var countsOnlyAnswers: Bool { answerPace != nil && !carriesSmall }

  /// Counts only answers from now on, because acknowledged bytes are in a buffer on the way.
  mutating func countOnlyAnswers(_ width: Int) {
    guard let pace, !carriesSmall else { return }
    answerPace = AnswerPace(window: width, most: max(answerPace?.most ?? 1, pace.usual), partSize: partSize)
    self.width = width
  }

  /// Sets whether transfers have become small, or large again.
  mutating func carries(small: Bool) {
    guard let mostSmall, let bounds, small != carriesSmall else { return }
    carriesSmall = small
    pace?.rest()
    if small, objectPace == nil {
      objectPace = ObjectPace(start: max(width, concurrency), most: mostSmall, limit: bounds.limit)
      if let lastNarrowing { objectPace?.throttled(to: width, at: lastNarrowing) }
    }
    objectPace?.rest()
    width = most
  }

  /// Applies the limit, which may depend on the time of day.
  mutating func follow(_ limit: Int64?, at now: Duration) -> Pace.Change? {
    let changes = (large: pace?.follow(limit, at: now), small: objectPace?.follow(limit, at: now))
    if changes.large != nil { answerPace = nil }
    guard let change = carriesSmall ? changes.small : changes.large else { return nil }
    width = change.connections
    return change
  }

  /// Reduces the width by at most one step in two seconds: the answers to requests that were already running repeat the
  /// same message.
  mutating func narrow(at now: Duration) {
    if let last = lastNarrowing, now - last < .seconds(2) { return }
    lastNarrowing = now
    width = max(1, width / 2)
    successes = 0
    pace?.throttled(to: width, at: now)
    objectPace?.throttled(to: width, at: now)
    answerPace?.set(width)
  }

  mutating func widen() {
    guard isNarrowed else { return }
    successes += 1
    guard successes >= 4 * width else { return }
    width += 1
    successes = 0
  }

  /// Takes a sample. `size` is the average of the running transfers.
  mutating func take(
    _ sample: LineSample, _ answers: [AnswerPace.Answer], underWay: Int, size: Int64, arrived: Int, isFull: Bool
  ) -> Pace.Change? {
    let change =
      if carriesSmall {
        objectPace?.take(sample, arrived: arrived, size: size, isFull: isFull)
      } else if answerPace != nil {
        take(answers)
      } else {
        pace?.take(sample, underWay: underWay, isFull: isFull)
      }
    guard let change else { return nil }
    width = change.connections
    return change
  }

  private mutating func take(_ answers: [AnswerPace.Answer]) -> Pace.Change? {
    var change: Pace.Change?
    for answer in answers {
      guard let most = answerPace?.most, let verdict = answerPace?.take(answer) else { break }
      switch verdict {
      case .goesOn(let next): change = next ?? change
      case .over(let next), .needed(let next):
        change = next
        let areNeeded = if case .needed = verdict { true } else { false }
        pace?.goOn(with: next.connections, of: most, areNeeded: areNeeded)
        answerPace = nil
      }
    }
    return change
  }
}
