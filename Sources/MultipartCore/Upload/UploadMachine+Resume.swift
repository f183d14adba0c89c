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

  /// What is under way of going on with an upload.
  struct Resume: Sendable {
    var hasLooked = false
    var candidates: [Candidate] = []
    var current: Candidate?
    var toAbort: [String] = []
    /// Listed parts that are still to be compared, last first.
    var toVerify: [Int] = []
    var verifying: Set<Int> = []
    /// An upload that is not this run's own, or not yet, is only looked at, neither filled nor aborted.
    var vetting: Vetting?
    var rejected = false
    var kept = 0
    var keptBytes: Int64 = 0
    var wasComplete = false
    /// A list that shows less than the record: the upload may be being completed, by a request of a run that was
    /// killed. It is only believed when the object is not there, and the list still the same a moment later.
    var doubtful: PartList?
    var doubts = 0

    mutating func drop() {
      doubtful = nil
      doubts = 0
      current = nil
      toVerify = []
      vetting = nil
      rejected = false
      kept = 0
      keptBytes = 0
    }
  }

  /// The upload that this run has made or resumed, not one that it only looks at or that is complete.
  package var ownUploadID: String? { isVetting || phase == .inspecting ? nil : uploadID }

  var isVetting: Bool { resume.vetting != nil }

  /// What the store had of the upload before this run, in parts and bytes, as far as it has been compared. Nothing of an
  /// upload that is only looked at.
  package var kept: (parts: Int, bytes: Int64) { isVetting ? (0, 0) : (resume.kept, resume.keptBytes) }

  /// The run ended before it was decided what becomes of a recorded upload: its record stays.
  package var leavesOldRecord: Bool {
    if !resume.hasLooked || !resume.toAbort.isEmpty { return true }
    guard isVetting, case .changed? = resume.current?.use else { return false }
    return true
  }

  /// A create is out, or waits for its next try.
  package var isCreating: Bool { phase == .creating }

  /// An earlier run had completed the upload already.
  package var wasComplete: Bool { resume.wasComplete }

  private static let mostDoubts = 4

  /// What other writers, or a store, make of a list is not waited for as long as a part of one's own is.
  static let triesOfNonsense = 3

  /// Comparing costs CPU and disk, not the line: two at a time.
  private static let comparisons = 2

  mutating func found(_ candidates: [Candidate]) -> [Action] {
    guard phase == .finding else { return [] }
    if cause != nil { return leave() }
    resume.hasLooked = true
    if settings.requiresResume, settings.hasRecord, candidates.count == 1, case .stale(let why) = candidates[0].use {
      return refuse(candidates[0], why)
    }
    var notices: [Action] = []
    for candidate in candidates {
      if case .stale(let why) = candidate.use {
        resume.toAbort.append(candidate.uploadID)
        notices.append(.say(.startsAnew(message: why)))
      } else {
        resume.candidates.append(candidate)
      }
    }
    return notices + nextCandidate()
  }

  /// Not allowed to look is as good as nothing found, and so is a list that is none time and again, but it is said;
  /// anything else is tried again, and then the run ends rather than leave what may be there and begin another.
  mutating func findFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .finding else { return [] }
    if cause != nil { return leave() }
    let isNonsense = failure.status.map { $0 < 300 } ?? false
    phaseAttempts += 1
    if !isNonsense || phaseAttempts <= Self.triesOfNonsense,
      let retry = retry(nil, failure, attempt: phaseAttempts - 1, now)
    {
      return retry
    }
    guard isNonsense || !RetryPolicy.isWorthRetrying(failure.code) else { return fail(failure) }
    let why: Wording = "the unfinished uploads could not be listed (\(failure.message))"
    return [.say(.startsAnew(message: why))] + found([])
  }

  /// Ends what is of no use, then takes the next candidate; without one, begins a new upload.
  mutating func nextCandidate() -> [Action] {
    uploadID = nil
    isRecorded = false
    phaseAttempts = 1
    if cause != nil { return leave() }
    if let old = resume.toAbort.first {
      phase = .abortingOld
      return [.abortOld(uploadID: old)]
    }
    guard !resume.candidates.isEmpty else {
      if isPut { return put() }
      guard !settings.requiresResume else {
        return fail(
          Failure(
            .uploadGone, "this machine has no record of an unfinished upload to resume",
            remedy:
              "leave \(.resume, "require") out to begin one, or use \(.resume, "adopt") to look for one at the store"))
      }
      return create()
    }
    let candidate = resume.candidates.removeFirst()
    resume.current = candidate
    uploadID = candidate.uploadID
    isRecorded = candidate.use == .own
    resume.vetting = candidate.use == .own ? nil : .listing
    phase = .listingParts
    return [.listParts(uploadID: candidate.uploadID)]
  }

  mutating func oldAborted(gone: Bool) -> [Action] {
    guard phase == .abortingOld else { return [] }
    let old = resume.toAbort.removeFirst()
    guard !gone else { return nextCandidate() }
    abandoned.append(old)
    return [.say(.leftBehind(uploadID: old))] + nextCandidate()
  }

  mutating func partsListed(_ list: PartList) -> [Action] {
    guard phase == .listingParts, let candidate = resume.current else { return [] }
    if cause != nil { return leave() }
    if case .settling(let first, let looks)? = resume.vetting { return settle(candidate, first, list, looks) }
    if let plan = list.plan { cut(by: plan) }
    let fits = settings.plan.fits(list.sizes)
    let isOwn = candidate.use == .own
    if isOwn, candidate.isWhole, list.sizes.count < receipts.count, resume.doubts < Self.mostDoubts {
      resume.doubtful = list
      resume.doubts += 1
      return look(.recovers)
    }
    guard fits, let listedForm = list.form, isOwn || !list.sizes.isEmpty else {
      guard isOwn else { return drop(candidate) }
      resume.toAbort.append(candidate.uploadID)
      return [.say(.startsAnew(message: "the unfinished upload was cut into other parts"))] + drop(candidate)
    }
    form = listedForm
    let numbers = list.sizes.keys.sorted(by: >)
    queue.leaveOut(numbers)
    resume.toVerify = numbers
    phase = .sending
    guard isOwn else {
      resume.vetting = .comparing(list)
      return fill()
    }
    return [.adopt(uploadID: candidate.uploadID)] + (numbers.isEmpty ? resumed() : []) + fill()
  }

  mutating func partsListFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .listingParts, let candidate = resume.current else { return [] }
    if cause != nil { return leave() }
    if failure.code == .uploadGone {
      guard candidate.use == .own else { return drop(candidate) }
      guard candidate.isWhole else {
        return giveUp(candidate)
      }
      // It may have been completed, and only the answer been lost.
      return look(.recovers)
    }
    phaseAttempts += 1
    let isPatient = candidate.use != .foreign || phaseAttempts <= Self.triesOfNonsense
    if isPatient, let retry = retry(nil, failure, attempt: phaseAttempts - 1, now) { return retry }
    return candidate.use == .foreign ? drop(candidate) : fail(failure)
  }

  mutating func recovered(_ judgement: Judgement) -> [Action] {
    if case .proven(let evidence) = judgement {
      resume.wasComplete = true
      // What is still listed is being completed: an abort now could take the object's data away with it.
      guard resume.doubtful == nil else { return finish(evidence) }
      return endUpload(thenFinish: evidence)
    }
    if let list = resume.doubtful {
      resume.doubtful = nil
      phase = .listingParts
      phaseAttempts = 1
      guard resume.doubts < Self.mostDoubts else { return partsListed(list) }
      let until = now + .seconds(resume.doubts)
      waiting = [Waiting(part: nil, until: until)]
      return [.wait(until: until)]
    }
    return resume.current.map { giveUp($0) } ?? nextCandidate()
  }

  /// A recorded upload that the store no longer knows is aborted all the same, as one that it forgets at a part.
  private mutating func giveUp(_ candidate: Candidate) -> [Action] {
    resume.toAbort.append(candidate.uploadID)
    return [.say(.startsAnew(message: "the store no longer knows the upload"))] + drop(candidate)
  }

  /// Looks for another one, and leaves the candidate as it is, unless it is of no use to anybody any more.
  mutating func drop(_ candidate: Candidate) -> [Action] {
    cut(by: nil)
    resetParts()
    form = settings.form
    guard case .changed(let why) = candidate.use else { return nextCandidate() }
    guard !settings.requiresResume else { return refuse(candidate, why) }
    resume.toAbort.append(candidate.uploadID)
    return [.say(.startsAnew(message: why))] + nextCandidate()
  }

  /// A run with the right source and options resumes it.
  private mutating func refuse(_ candidate: Candidate, _ why: Wording) -> [Action] {
    uploadID = nil
    resume.toAbort = [candidate.uploadID]
    return fail(
      Failure(
        .uploadGone, "there is no unfinished upload to go on with: \(why)",
        remedy: "leave \(.resume, "require") out to end that one and begin another"))
  }

  // MARK: - Comparing

  mutating func verifyMore() -> [Action] {
    var actions: [Action] = []
    while resume.verifying.count < Self.comparisons, let number = resume.toVerify.popLast() {
      resume.verifying.insert(number)
      actions.append(.verify(part: number))
    }
    return actions
  }

  mutating func partVerified(_ receipt: PartReceipt) -> [Action] {
    resume.verifying.remove(receipt.number)
    guard phase == .sending else { return stopIfQuiet() }
    receipts[receipt.number - 1] = receipt
    partsDone += 1
    resume.kept += 1
    resume.keptBytes += receipt.size
    return compared()
  }

  mutating func partRejected(_ number: Int) -> [Action] {
    resume.verifying.remove(number)
    guard phase == .sending else { return stopIfQuiet() }
    resume.rejected = true
    if isVetting { resume.toVerify = [] }
    queue.add(number)
    return compared()
  }

  mutating func verifyFailed(_ number: Int, _ failure: Failure) -> [Action] {
    resume.verifying.remove(number)
    guard phase == .sending else { return stopIfQuiet() }
    return fail(failure)
  }

  private mutating func compared() -> [Action] {
    guard resume.toVerify.isEmpty, resume.verifying.isEmpty else { return fill() }
    guard let vetting = resume.vetting, let candidate = resume.current else {
      return resumed() + (isWhole ? finishParts() : fill())
    }
    // One part of a foreign upload is something else: somebody uploads another file there.
    guard !resume.rejected else { return drop(candidate) }
    if candidate.use == .foreign, case .comparing(let list) = vetting { return settle(list) }
    return adopt(candidate)
  }

  mutating func adopt(_ candidate: Candidate) -> [Action] {
    resume.vetting = nil
    phase = .sending
    return [.adopt(uploadID: candidate.uploadID)] + resumed() + (isWhole ? finishParts() : fill())
  }

  private func resumed() -> [Action] {
    uploadID.map { [.say(.resumes(uploadID: $0, parts: resume.kept, bytes: resume.keptBytes))] } ?? []
  }
}
