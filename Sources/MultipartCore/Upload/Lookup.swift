/// Is there an unfinished upload of this object to resume?
///
/// One that no record knows may be somebody's who is sending to it now. It is adopted only when all its parts are the
/// source's and nobody has sent to it for a while by the store's clock.
struct Lookup: Sendable {
  enum State: Sendable {
    case notBegun
    case finding(attempt: Int)
    /// An old upload that is of no use any more is being ended.
    case ending(Cleanup)
    case listing(UploadMachine.Candidate, attempt: Int)
    /// All its parts are compared before it is touched. By the list as it was when the comparison began.
    case vetting(UploadMachine.Candidate, UploadMachine.PartList)
    /// All its parts are the source's. It is listed again, for comparing takes its time, and where that is too soon, once
    /// more.
    case settling(UploadMachine.Candidate, UploadMachine.PartList, looks: Int, attempt: Int)
    /// The object is looked at: an earlier run may have completed the upload. The list, where there is one, shows less
    /// than the record.
    case recovering(UploadMachine.Candidate, UploadMachine.PartList?)
    case over(resumed: UploadMachine.Candidate?)
  }

  var state = State.notBegun
  var candidates: [UploadMachine.Candidate] = []
  /// To be ended: the first one is under way.
  var useless: [String] = []
  /// A list that shows less than the record is only believed when the object is not there, and the list still the same a
  /// moment later: the upload may be being completed, by a request of a run that was killed.
  var doubts = 0
  var wasComplete = false

  static let mostDoubts = 4
  /// What other writers, or a store, make of a list is not waited for as long as a part of one's own is.
  static let triesOfNonsense = 3

  var hasLooked: Bool {
    switch state {
    case .notBegun, .finding: false
    default: true
    }
  }

  /// Before the upload is touched.
  var isComparing: Bool {
    if case .vetting = state { true } else { false }
  }

  var candidate: UploadMachine.Candidate? {
    switch state {
    case .notBegun, .finding, .ending: nil
    case .listing(let candidate, _), .vetting(let candidate, _), .settling(let candidate, _, _, _),
      .recovering(let candidate, _):
      candidate
    case .over(let resumed): resumed
    }
  }

  /// An upload that is not this run's own, or not yet, is only looked at, neither filled nor aborted.
  var isVetting: Bool {
    switch state {
    case .listing(let candidate, _): candidate.use != .own
    case .vetting, .settling: true
    default: false
    }
  }

  /// The run ended before it was decided what becomes of a recorded upload: its record stays.
  var leavesOldRecord: Bool {
    if !hasLooked || !useless.isEmpty { return true }
    guard isVetting, case .changed? = candidate?.use else { return false }
    return true
  }

  // MARK: - Whether anybody is at it

  enum Quiet: Sendable {
    case yes
    case wait(Duration)
    case no(why: String)
  }

  /// Moments are whole seconds, so that one wait can end a moment too soon.
  private static let mostLooks = 4
  /// A moment that lies further ahead of the store's clock is of another clock, and says nothing.
  private static let mostAhead = Duration.seconds(30)

  static func quiet(
    _ first: UploadMachine.PartList, _ list: UploadMachine.PartList, looks: Int, for time: Duration
  ) -> Quiet {
    guard let before = first.activity, let activity = list.activity else {
      return .no(why: "not all of its parts are listed")
    }
    guard list.sizes == first.sizes, activity.traces == before.traces else {
      return .no(why: "somebody is sending to it")
    }
    guard let quiet = activity.quiet(since: before) else {
      return .no(why: "the store does not say what time it is, nor so since when nobody sends to it")
    }
    guard quiet < time else { return .yes }
    guard looks < mostLooks, mostAhead + quiet >= .zero else {
      return .no(why: "by the store's clock it cannot be said since when nobody sends to it")
    }
    return .wait(time - quiet)
  }
}

extension UploadMachine {
  /// An unfinished upload of the same object.
  package struct Candidate: Sendable, Equatable {
    package enum Use: Sendable, Equatable {
      /// Recorded here: what does not fit in it is sent again.
      case own
      /// Recorded here, for a source or options that are no more: it is ended, and this is why.
      case stale(Wording)
      /// Recorded here, for a source of the same size that was written or put there anew since: it is resumed when
      /// every part of it is still a part of the source, and else ended, for this reason.
      case changed(Wording)
      /// Found at the store, and no record knows it: it is only touched when every part of it is a part of this source
      /// and nobody has sent to it for a while.
      case foreign
    }

    package var uploadID: String
    package var use: Use
    /// All its parts are in the record: if it is gone, it may have been completed.
    package var isWhole = false

    package init(uploadID: String, use: Use, isWhole: Bool = false) {
      self.uploadID = uploadID
      self.use = use
      self.isWhole = isWhole
    }
  }

  /// The parts that a store has of an upload.
  package struct PartList: Sendable, Equatable {
    package var sizes: [Int: Int64]
    /// What further parts of this upload carry; nil when this run cannot send that.
    package var form: ChecksumForm?
    /// By which they are cut, where that is another plan than this run's and it may take it.
    package var plan: UploadPlan?
    /// Of an upload that no record knows: whether somebody is still sending to it.
    package var activity: Activity?

    package init(sizes: [Int: Int64], form: ChecksumForm?, plan: UploadPlan? = nil, activity: Activity? = nil) {
      self.sizes = sizes
      self.form = form
      self.plan = plan
      self.activity = activity
    }
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
}
