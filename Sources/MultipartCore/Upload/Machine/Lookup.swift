import MultipartBasics

/// Finds an unfinished upload of this object to resume.
///
/// Another run may still be sending parts to an upload that has no record here. Such an upload is adopted only if all
/// its parts match the source and nothing was sent to it for a while by the store's clock.
struct Lookup: Sendable {
  enum State: Sendable {
    case notBegun
    case finding(attempt: Int)
    /// An obsolete upload is being aborted.
    case ending(Cleanup)
    case listing(UploadMachine.Candidate, attempt: Int)
    /// All its parts are compared before it is touched, as the list had them when the comparison began.
    case vetting(UploadMachine.Candidate, UploadMachine.PartList)
    /// All its parts match the source. It is listed again, because comparing takes time, and once more if that is too
    /// soon.
    case settling(UploadMachine.Candidate, UploadMachine.PartList, looks: Int, attempt: Int)
    /// The object is checked: an earlier run may have completed the upload. The list, if any, shows less than the
    /// record.
    case recovering(UploadMachine.Candidate, UploadMachine.PartList?)
    case over(resumed: UploadMachine.Candidate?)
  }

  /// How the run ends because of the object at the key.
  enum Ending: Sendable {
    case failing(Failure)
    case leaving(UploadMachine.Outcome)
  }

  var state = State.notBegun
  /// Set if only this is still open: whether the object at the key is what the recorded upload became. Unless that is
  /// proven, the run ends like this, and whatever else ends it, the upload and its record stay as they are.
  var otherwise: Ending?
  var candidates: [UploadMachine.Candidate] = []
  /// Uploads to abort; the first one is being aborted.
  var useless: [String] = []
  /// How often a list that shows less than the record was doubted. It is believed only if the object does not exist and
  /// the list is unchanged a moment later: the upload may be in the process of being completed, by a request of a run
  /// that was killed.
  var doubts = 0
  var wasComplete = false

  static let mostDoubts = 4
  /// A malformed list of other writers' uploads gets fewer tries than a part of this run.
  static let triesOfNonsense = 3

  var hasLooked: Bool {
    switch state {
    case .notBegun, .finding: false
    default: true
    }
  }

  /// Whether parts are compared before the upload is touched.
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

  /// Whether the upload is only examined, neither filled nor aborted, because it is not, or not yet, this run's own.
  var isVetting: Bool {
    if otherwise != nil { return true }
    return switch state {
    case .listing(let candidate, _): candidate.use != .own
    case .vetting, .settling: true
    default: false
    }
  }

  /// The run ended before the fate of a recorded upload was decided: its record stays.
  var leavesOldRecord: Bool {
    if !hasLooked || !useless.isEmpty || otherwise != nil { return true }
    guard isVetting, case .changed? = candidate?.use else { return false }
    return true
  }

  // MARK: - Whether another client is sending

  enum Quiet: Sendable {
    case yes
    case wait(Duration)
    case no(why: String)
  }

  /// The most looks. Times are whole seconds, so that one wait can end a moment too soon.
  private static let mostLooks = 4
  /// A time further ahead of the store's clock comes from a different clock, and says nothing.
  private static let mostAhead = Duration.seconds(30)

  static func quiet(
    _ first: UploadMachine.PartList, _ list: UploadMachine.PartList, looks: Int, for time: Duration
  ) -> Quiet {
    guard let before = first.activity, let activity = list.activity else {
      return .no(why: "not all of its parts are listed")
    }
    guard list.sizes == first.sizes, activity.traces == before.traces else {
      return .no(why: "another client is sending to it")
    }
    guard let quiet = activity.quiet(since: before) else {
      return .no(why: "the store gives no time, so it is not known whether another client is sending to it")
    }
    guard quiet < time else { return .yes }
    guard looks < mostLooks, mostAhead + quiet >= .zero else {
      return .no(why: "it is not known by the store's clock when something was last sent to it")
    }
    return .wait(time - quiet)
  }
}

extension UploadMachine {
  /// An unfinished upload of the same object.
  struct Candidate: Sendable, Equatable {
    enum Use: Sendable, Equatable {
      /// Recorded here: parts that do not match are sent again.
      case own
      /// Recorded here, for a source or options that have changed: it is aborted for this reason.
      case stale(Wording)
      /// Recorded here, for a source of the same size that has since been rewritten or replaced: it is resumed if all
      /// of its parts are still parts of the source, and otherwise aborted for this reason.
      case changed(Wording)
      /// Found at the store, without a record: it is touched only if all of its parts match this source and nothing was
      /// sent to it for a while.
      case foreign
    }

    var uploadID: String
    var use: Use
    /// All its parts are in the record: if it is gone, it may have been completed.
    var isWhole = false
  }

  /// The parts that a store has of an upload.
  struct PartList: Sendable, Equatable {
    var sizes: [Int: Int64]
    /// What further parts of this upload must carry; nil if this run cannot send that.
    var form: ChecksumForm?
    /// The plan that the parts imply, if it differs from this run's and may replace it.
    var plan: UploadPlan?
    /// For an unrecorded upload: whether another client is still sending to it.
    var activity: Activity?
    /// The receipts of a ticket's parts, whichever run sent them.
    var receipts: [PartReceipt] = []
    /// The parts that arrived last, as precisely as whole seconds allow, in order; nil if the store does not say.
    var latest: [Int]?
  }

  /// When something was last sent to an upload, according to the list of its parts.
  struct Activity: Sendable, Equatable {
    /// ETag and time of each part, which also reveal a part that was sent again.
    var traces: [Int: String] = [:]
    /// The latest time of its parts and its creation; nil if the store does not return them all.
    var last: Timestamp?
    /// The store's clock at the time of its answer.
    var clock: Timestamp?

    /// How long nothing has been sent to it; if times are missing, counted from `first`, the first list. Nil if the
    /// store does not return its time.
    func quiet(since first: Activity) -> Duration? {
      guard let clock, let last = last ?? first.clock else { return nil }
      return .seconds(clock.seconds - last.seconds)
    }
  }
}
