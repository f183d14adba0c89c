/// Steps of the lookup: find, abort obsolete uploads, list, compare, adopt.
extension UploadMachine {
  mutating func find() -> [Action] {
    lookup.state = .finding(attempt: 1)
    state = .looking
    return [.find]
  }

  mutating func found(_ candidates: [Candidate], _ scheduler: inout Scheduler) -> [Action] {
    guard case .finding = lookup.state else { return unfit() }
    if let interruption { return fail(interruption, &scheduler) }
    if let end = lookup.otherwise, !candidates.contains(where: { $0.use == .own && $0.isWhole }) {
      return ended(as: end, &scheduler)
    }
    if settings.requiresResume, settings.hasRecord, candidates.count == 1, case .stale(let why) = candidates[0].use {
      return refuse(candidates[0], why, &scheduler)
    }
    var notices: [Action] = []
    for candidate in candidates {
      if case .stale(let why) = candidate.use {
        lookup.useless.append(candidate.uploadID)
        notices += startsAnew(because: why)
      } else {
        lookup.candidates.append(candidate)
      }
    }
    return notices + nextCandidate(&scheduler)
  }

  /// A list that is not allowed, or that is repeatedly malformed, counts as nothing found, and this is reported. Any
  /// other failure is retried, and then ends the run, because beginning another upload would abandon an existing one.
  mutating func findFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    guard case .finding(let attempt) = lookup.state else { return unfit() }
    if let interruption { return fail(interruption, &scheduler) }
    let isNonsense = failure.status.map { $0 < 300 } ?? false
    if !isNonsense || attempt < Lookup.triesOfNonsense,
      let retry = scheduler.retry(.step(object: object), after: failure, attempt: attempt)
    {
      lookup.state = .finding(attempt: attempt + 1)
      return retry.notices
    }
    guard isNonsense || !RetryPolicy.isWorthRetrying(failure.code) else { return fail(failure, &scheduler) }
    let why: Wording = "the unfinished uploads could not be listed (\(failure.message))"
    return startsAnew(because: why) + found([], &scheduler)
  }

  static let nothingToResume = Failure(
    .uploadGone, "this machine has no record of an unfinished upload that can be resumed",
    remedy: "leave \(.resume, "require") out to begin one, or use \(.resume, "adopt") to look for one at the store")

  /// Aborts obsolete uploads, then takes the next candidate; without one, begins a new upload.
  mutating func nextCandidate(_ scheduler: inout Scheduler) -> [Action] {
    uploadID = nil
    isRecorded = false
    state = .looking
    lookup.state = .over(resumed: nil)
    if let interruption { return fail(interruption, &scheduler) }
    if let old = lookup.useless.first {
      lookup.state = .ending(Cleanup(old))
      return [.abort(uploadID: old)]
    }
    guard !lookup.candidates.isEmpty else {
      guard !settings.requiresResume else { return fail(Self.nothingToResume, &scheduler) }
      return isPut ? put() : create()
    }
    let candidate = lookup.candidates.removeFirst()
    uploadID = candidate.uploadID
    isRecorded = candidate.use == .own && lookup.otherwise == nil
    lookup.state = .listing(candidate, attempt: 1)
    return [.listParts(uploadID: candidate.uploadID)]
  }

  /// Says why no earlier upload is continued; if one is required, the run then fails.
  private func startsAnew(because why: Wording) -> [Action] {
    [.say(settings.requiresResume ? .warning(why) : .startsAnew(why: why))]
  }

  mutating func oldEnded(isGone: Bool, _ scheduler: inout Scheduler) -> [Action] {
    let old = lookup.useless.removeFirst()
    guard !isGone else { return nextCandidate(&scheduler) }
    abandoned.append(old)
    return [.say(.leftBehind(uploadID: old))] + nextCandidate(&scheduler)
  }

  mutating func partsListed(_ list: PartList, _ scheduler: inout Scheduler) -> [Action] {
    if case .gathering = state { return gathered(list, &scheduler) }
    let candidate: Candidate
    switch lookup.state {
    case .listing(let listed, _): candidate = listed
    case .settling(let settled, let first, let looks, _):
      if let interruption { return fail(interruption, &scheduler) }
      return settle(settled, first, list, looks: looks, &scheduler)
    default: return unfit()
    }
    if let interruption { return fail(interruption, &scheduler) }
    if let plan = list.plan { cut(by: plan, &scheduler) }
    let isOwn = candidate.use == .own
    if isOwn, candidate.isWhole, list.sizes.count < receipts.count, lookup.doubts < Lookup.mostDoubts {
      lookup.doubts += 1
      return recover(candidate, list)
    }
    // While the upload exists, the object is a different one.
    if let end = lookup.otherwise { return ended(as: end, &scheduler) }
    guard settings.plan.fits(list.sizes), let listedForm = list.form, isOwn || !list.sizes.isEmpty else {
      guard isOwn else { return drop(candidate, &scheduler) }
      lookup.useless.append(candidate.uploadID)
      return startsAnew(because: "the unfinished upload has a different part size") + drop(candidate, &scheduler)
    }
    form = listedForm
    parts.compare(list.sizes.keys)
    guard isOwn else {
      lookup.state = .vetting(candidate, list)
      return []
    }
    lookup.state = .over(resumed: candidate)
    state = .sending
    let adopts = [Action.adopt(uploadID: candidate.uploadID)]
    guard parts.comparison.isOver else { return adopts }
    return adopts + resumed() + (settings.share != nil && isWhole ? finishParts() : [])
  }

  mutating func partsListFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    if case .gathering(let attempt, let until) = state { return gatherFailed(failure, attempt, until, &scheduler) }
    let (candidate, attempt): (Candidate, Int)
    switch lookup.state {
    case .listing(let listed, let count), .settling(let listed, _, _, let count): (candidate, attempt) = (listed, count)
    default: return unfit()
    }
    if let interruption { return fail(interruption, &scheduler) }
    if failure.code == .uploadGone {
      guard candidate.use == .own else { return drop(candidate, &scheduler) }
      // The upload may have been completed, with only the answer lost.
      return candidate.isWhole || settings.isTicket ? recover(candidate, nil) : giveUp(candidate, nil, &scheduler)
    }
    // The object is there, whatever the store would say about the upload; the next run can ask again.
    if let end = lookup.otherwise { return ended(as: end, &scheduler) }
    let isPatient = candidate.use != .foreign || attempt < Lookup.triesOfNonsense
    if isPatient, let retry = scheduler.retry(.step(object: object), after: failure, attempt: attempt) {
      if case .settling(_, let first, let looks, _) = lookup.state {
        lookup.state = .settling(candidate, first, looks: looks, attempt: attempt + 1)
      } else {
        lookup.state = .listing(candidate, attempt: attempt + 1)
      }
      return retry.notices
    }
    return candidate.use == .foreign ? drop(candidate, &scheduler) : fail(failure, &scheduler)
  }

  mutating func recover(_ candidate: Candidate, _ list: PartList?) -> [Action] {
    lookup.state = .recovering(candidate, list)
    return begin(.recover(of: object))
  }

  mutating func recovered(_ judgement: Judgement, _ scheduler: inout Scheduler) -> [Action] {
    guard case .recovering(let candidate, let doubtful) = lookup.state else { return unfit() }
    if case .proven(let evidence) = judgement {
      lookup.wasComplete = true
      (lookup.otherwise, isRecorded) = (nil, candidate.use == .own)
      lookup.state = .over(resumed: candidate)
      // What is still listed is being completed: an abort now could delete the object's data with it.
      return doubtful == nil ? clean(.finishing(evidence: evidence)) : finish(evidence)
    }
    guard let doubtful else { return giveUp(candidate, judgement, &scheduler) }
    state = .looking
    lookup.state = .listing(candidate, attempt: 1)
    guard lookup.doubts < Lookup.mostDoubts else { return partsListed(doubtful, &scheduler) }
    scheduler.wait(.step(object: object), .seconds(lookup.doubts))
    return []
  }

  /// The object may be what the upload was completed into, so it is neither sent again nor said to be another one. A
  /// caller that is not allowed to look at it begins another upload; a ticket is for this one only.
  mutating func unrecovered(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    guard case .recovering(_, let doubtful) = lookup.state else { return unfit() }
    guard doubtful == nil, lookup.otherwise == nil,
      settings.isTicket && failure.status != nil || RetryPolicy.isWorthRetrying(failure.code)
    else { return recovered(.undecided(weak: ""), &scheduler) }
    return fail(failure, &scheduler)
  }

  /// Ends the run because of the object at the key, and touches no upload: a recorded one may belong to an object that
  /// was replaced since, and stays for `uploads`.
  mutating func ended(as end: Lookup.Ending, _ scheduler: inout Scheduler) -> [Action] {
    lookup = Lookup()
    uploadID = nil
    switch end {
    case .failing(let failure): return fail(failure, &scheduler)
    case .leaving(let outcome):
      state = .done(nil)
      return [.finish(outcome)]
    }
  }

  /// Aborts a recorded upload although the store no longer has it, as if the store had reported it gone while a part
  /// was sent.
  private mutating func giveUp(
    _ candidate: Candidate, _ object: Judgement?, _ scheduler: inout Scheduler
  ) -> [Action] {
    if settings.isTicket, let object {
      return fail(Self.ticketIsUsed(by: object, isStream: settings.isStream), &scheduler)
    }
    if let end = lookup.otherwise { return ended(as: end, &scheduler) }
    lookup.useless.append(candidate.uploadID)
    return startsAnew(because: "the store no longer has the upload") + drop(candidate, &scheduler)
  }

  /// Looks for another candidate, and leaves this one as it is unless no run can use it any more.
  private mutating func drop(_ candidate: Candidate, _ scheduler: inout Scheduler) -> [Action] {
    cut(by: nil, &scheduler)
    parts.reset()
    form = settings.form
    guard case .changed(let why) = candidate.use else { return nextCandidate(&scheduler) }
    guard !settings.requiresResume else { return refuse(candidate, why, &scheduler) }
    lookup.useless.append(candidate.uploadID)
    return [.say(.startsAnew(why: why))] + nextCandidate(&scheduler)
  }

  /// Refuses an upload that a run with the right source and options can resume.
  private mutating func refuse(_ candidate: Candidate, _ why: Wording, _ scheduler: inout Scheduler) -> [Action] {
    uploadID = nil
    lookup.useless = [candidate.uploadID]
    lookup.state = .over(resumed: nil)
    return fail(
      Failure(
        .uploadGone, "there is no unfinished upload to resume: \(why)",
        remedy: "leave \(.resume, "require") out to abort that one and begin another"), &scheduler)
  }

  // MARK: - Comparing

  private var isComparing: Bool {
    switch (state, lookup.state) {
    case (.sending, _), (.looking, .vetting): true
    default: false
    }
  }

  mutating func partVerified(_ receipt: PartReceipt, _ scheduler: inout Scheduler) -> [Action] {
    guard parts.comparison.underWay.remove(receipt.number) != nil else { return unfit() }
    guard isComparing else { return stopIfQuiet() }
    parts.verified(receipt)
    return compared(&scheduler)
  }

  mutating func partRejected(_ number: Int, _ scheduler: inout Scheduler) -> [Action] {
    guard parts.comparison.underWay.remove(number) != nil else { return unfit() }
    guard isComparing else { return stopIfQuiet() }
    parts.rejected(number)
    if lookup.isVetting { parts.comparison.left = [] }
    return compared(&scheduler)
  }

  mutating func verifyFailed(_ number: Int, _ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    guard parts.comparison.underWay.remove(number) != nil else { return unfit() }
    guard isComparing else { return stopIfQuiet() }
    return fail(failure, &scheduler)
  }

  private mutating func compared(_ scheduler: inout Scheduler) -> [Action] {
    guard parts.comparison.isOver else { return [] }
    guard case .vetting(let candidate, let list) = lookup.state else {
      return resumed() + (isWhole ? finishParts() : [])
    }
    // If one part of a foreign upload differs, another file is being uploaded there.
    guard !parts.comparison.hasRejected else { return drop(candidate, &scheduler) }
    guard candidate.use == .foreign else { return adopt(candidate) }
    lookup.state = .settling(candidate, list, looks: 1, attempt: 1)
    return [.listParts(uploadID: candidate.uploadID)]
  }

  private mutating func settle(
    _ candidate: Candidate, _ first: PartList, _ list: PartList, looks: Int, _ scheduler: inout Scheduler
  ) -> [Action] {
    switch Lookup.quiet(first, list, looks: looks, for: settings.quietTime) {
    case .yes: return adopt(candidate)
    case .no(let why):
      return [.say(.passedBy(uploadID: candidate.uploadID, why: why))] + drop(candidate, &scheduler)
    case .wait(let wait):
      lookup.state = .settling(candidate, first, looks: looks + 1, attempt: 1)
      let notice = Action.say(.waitsForQuiet(uploadID: candidate.uploadID, wait: wait))
      scheduler.wait(.step(object: object), wait)
      return looks == 1 ? [notice] : []
    }
  }

  private mutating func adopt(_ candidate: Candidate) -> [Action] {
    lookup.state = .over(resumed: candidate)
    state = .sending
    return [.adopt(uploadID: candidate.uploadID)] + resumed() + (isWhole ? finishParts() : [])
  }

  private func resumed() -> [Action] {
    let comparison = parts.comparison
    if settings.isTicket, comparison.kept == 0 { return [] }
    return uploadID.map { [.say(.resumed(uploadID: $0, parts: comparison.kept, bytes: comparison.keptBytes))] } ?? []
  }
}
