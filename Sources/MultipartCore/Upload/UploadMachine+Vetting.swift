/// An upload that no record knows may be somebody's who is sending to it now. It is adopted only when all its parts are the
/// source's and nobody has sent to it for a while by the store's clock.
extension UploadMachine {
  /// How far the look at an upload has come that is not to be touched yet.
  enum Vetting: Equatable {
    case listing
    /// As the list was that the comparison goes by.
    case comparing(PartList)
    /// All its parts are the source's. It is listed again, and where that is too soon, once more.
    case settling(PartList, looks: Int)
  }

  /// When somebody last sent to an upload, as the list of its parts shows it.
  package struct Activity: Sendable, Equatable {
    /// ETag and moment of each part: a part that was sent again shows too.
    package var traces: [Int: String]
    /// The youngest moment of its parts and its beginning; nil where the store does not give them all.
    package var last: Timestamp?
    /// The store's clock when it answered.
    package var clock: Timestamp?

    package init(traces: [Int: String] = [:], last: Timestamp? = nil, clock: Timestamp? = nil) {
      self.traces = traces
      self.last = last
      self.clock = clock
    }

    /// How long nobody has sent to it; what bears no moment counts from `first`, the first list that was seen. Nil where
    /// the store does not tell its time.
    package func quiet(since first: Activity) -> Duration? {
      guard let clock, let last = last ?? first.clock else { return nil }
      return .seconds(clock.seconds - last.seconds)
    }
  }

  /// Moments are whole seconds, so that one wait can end a moment too soon.
  private static let mostLooks = 4
  /// A moment that lies further ahead of the store's clock is of another clock, and says nothing.
  private static let mostAhead = Duration.seconds(30)

  /// All parts are the source's: the list once more, for comparing takes its time.
  mutating func settle(_ list: PartList) -> [Action] {
    resume.vetting = .settling(list, looks: 1)
    phase = .listingParts
    phaseAttempts = 1
    return uploadID.map { [.listParts(uploadID: $0)] } ?? []
  }

  mutating func settle(_ candidate: Candidate, _ first: PartList, _ list: PartList, _ looks: Int) -> [Action] {
    guard let before = first.activity, let activity = list.activity else {
      return passBy(candidate, "not all of its parts are listed")
    }
    guard list.sizes == first.sizes, activity.traces == before.traces else {
      return passBy(candidate, "somebody is sending to it")
    }
    guard let quiet = activity.quiet(since: before) else {
      return passBy(candidate, "the store does not say what time it is, nor so since when nobody sends to it")
    }
    guard quiet < settings.quietTime else { return adopt(candidate) }
    guard looks < Self.mostLooks, Self.mostAhead + quiet >= .zero else {
      return passBy(candidate, "by the store's clock it cannot be said since when nobody sends to it")
    }
    resume.vetting = .settling(first, looks: looks + 1)
    phaseAttempts = 1
    let wait = settings.quietTime - quiet
    waiting = [Waiting(part: nil, until: now + wait)]
    let notice = Action.say(.waitsForQuiet(uploadID: candidate.uploadID, wait: wait))
    return (looks == 1 ? [notice] : []) + [.wait(until: now + wait)]
  }

  private mutating func passBy(_ candidate: Candidate, _ why: String) -> [Action] {
    [.say(.passedBy(uploadID: candidate.uploadID, why: why))] + drop(candidate)
  }
}
