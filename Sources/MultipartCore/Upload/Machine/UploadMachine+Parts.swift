/// Steps up to the last part: check a condition, create, send.
extension UploadMachine {
  static let givesNoneBack: Wording = "the store returns no checksum, so it has not verified it"

  mutating func start(_ scheduler: inout Scheduler) -> [Action] {
    guard case .idle = state else { return unfit() }
    guard settings.checksFirst else { return begin() }
    state = .checking(attempt: 1)
    return [.check]
  }

  /// A HEAD that does not show the object decides nothing: the store checks the condition again at the end.
  mutating func checked(_ failure: Failure?, _ scheduler: inout Scheduler) -> [Action] {
    guard case .checking(let attempt) = state else { return unfit() }
    if let interruption { return fail(interruption, &scheduler) }
    guard let failure, !failure.hidesObject else { return begin() }
    if failure.code == .precondition { return end(.failing(failure), &scheduler) }
    state = .checking(attempt: attempt + 1)
    return scheduler.retry(.step(object: object), after: failure, attempt: attempt)?.notices
      ?? fail(failure, &scheduler)
  }

  /// An object exists that is left as it is.
  mutating func foundObject(_ outcome: Outcome, _ scheduler: inout Scheduler) -> [Action] {
    guard case .checking = state else { return unfit() }
    return end(.leaving(outcome), &scheduler)
  }

  /// The object at the key ends the run, unless it is the one that the recorded upload was made into: an earlier run
  /// may have completed it without learning of it.
  private mutating func end(_ end: Lookup.Ending, _ scheduler: inout Scheduler) -> [Action] {
    let mayBeOurs = settings.finds && settings.hasRecord && !settings.isTicket && !settings.onlyLooks
    guard mayBeOurs, interruption == nil else { return ended(as: end, &scheduler) }
    lookup.otherwise = end
    return find()
  }

  /// After the preconditions: reads a stream, puts a small source, and looks for an unfinished upload of a large one.
  mutating func begin() -> [Action] {
    if settings.onlyLooks {
      state = .done(nil)
      return [.finish(.planned)]
    }
    if settings.isStream, parts.stream.sizes.isEmpty, !parts.stream.hasEnded {
      state = .reading
      parts.stream.isReading = true
      return [.read]
    }
    if settings.isTicket { return find() }
    let mayResume = !isPut || settings.hasRecord || settings.requiresResume
    guard settings.finds, mayResume, !lookup.hasLooked else { return isPut ? put() : create() }
    return find()
  }

  /// The source is sent in one PutObject: a small file, or a stream that has ended within its first piece.
  var isPut: Bool {
    settings.isStream ? parts.stream.hasEnded && parts.stream.sizes.isEmpty : settings.plan.isSingle
  }

  mutating func put() -> [Action] {
    state = .ready
    return []
  }

  mutating func create() -> [Action] {
    state = .creating(attempt: 1)
    return [.create(form)]
  }

  mutating func created(
    _ id: String, isRecorded: Bool, _ plan: UploadPlan?, _ scheduler: inout Scheduler
  ) -> [Action] {
    guard case .creating = state else { return unfit() }
    if let plan { cut(by: plan, &scheduler) }
    uploadID = id
    self.isRecorded = isRecorded
    if let interruption { return fail(interruption, &scheduler) }
    state = .sending
    return []
  }

  mutating func createFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    guard case .creating(let attempt) = state else { return unfit() }
    if failure.mayHaveWorked { createWasLost = true }
    if let interruption { return fail(interruption, &scheduler) }
    if let steps = stepDown(failure) { return [steps] + create() }
    state = .creating(attempt: attempt + 1)
    return scheduler.retry(.step(object: object), after: failure, attempt: attempt)?.notices
      ?? fail(failure, &scheduler)
  }

  // MARK: - Parts

  /// Sends in order as far as there is room, compares, and reads ahead.
  mutating func fill(_ scheduler: inout Scheduler) -> [Action] {
    switch state {
    case .ready:
      guard scheduler.hasRoom else { return [] }
      beginWhole(&scheduler)
      return begin(.put(of: object, alwaysVerifies: settings.alwaysVerifies))
    case .looking: return parts.compareMore()
    case .sending:
      var actions = parts.compareMore()
      while scheduler.hasRoom, let number = parts.queue.next() { actions.append(send(number, &scheduler)) }
      return actions + readMore(scheduler)
    default: return []
    }
  }

  /// Starts the transfer of an object in a single request. A stream's length is not known here; such an object is never
  /// sent twice at once, so its rate is not needed.
  func beginWhole(_ scheduler: inout Scheduler) {
    scheduler.begin(wholeObject, size: settings.isStream ? 0 : settings.plan.size)
  }

  private mutating func send(_ number: Int, _ scheduler: inout Scheduler) -> Action {
    scheduler.begin(Slot(object: object, part: number), size: size(of: number))
    let (attempt, fresh) = parts.begin(number)
    return .send(part: number, form: form, attempt: attempt, freshConnection: fresh)
  }

  private func size(of part: Int) -> Int64 {
    settings.isStream ? parts.stream.sizes[part - 1] : settings.plan.range(of: part).length
  }

  mutating func partDone(_ receipt: PartReceipt, _ scheduler: inout Scheduler) -> [Action] {
    let number = receipt.number
    guard parts.underWay.contains(number) else { return unfit() }
    switch scheduler.arrived(Slot(object: object, part: number), receipt) {
    case .arrived(let receipt): return arrived(receipt)
    // Sent once more, alone, the part has a known ETag.
    case .arrivedTwice(let receipt):
      guard isSending else { return arrived(receipt) }
      parts.underWay.remove(number)
      parts.sendLater(number)
      return []
    default: return [.cancelPart(number)]
    }
  }

  private mutating func arrived(_ receipt: PartReceipt) -> [Action] {
    parts.underWay.remove(receipt.number)
    guard isSending else {
      parts.arrivedLate(receipt)
      return stopIfQuiet()
    }
    parts.arrived(receipt)
    var actions: [Action] = settings.isStream ? [.release(part: receipt.number)] : []
    // The store accepted the part without confirming that it verified it: the following parts carry a checksum that it
    // does verify.
    if settings.formIsFree, case .algorithm = form, receipt.checksum != nil, receipt.proof < .checksum,
      let next = form.steppedDown(payloadIsSigned: settings.payloadIsSigned)
    {
      actions.append(.say(.checksumChanged(from: form, to: next, why: Self.givesNoneBack)))
      form = next
    }
    return actions + (isWhole ? finishParts() : [])
  }

  /// Every part is at the store.
  var isWhole: Bool { parts.isWhole && (!settings.isStream || parts.stream.hasEnded) }

  /// The end of a stream is checked before it is published; a file is checked again by the code that completes it.
  mutating func finishParts() -> [Action] {
    if settings.share != nil { return gather() }
    guard settings.isStream else { return complete() }
    state = .confirming
    return [.confirm]
  }

  mutating func partFailed(_ number: Int, _ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    guard parts.underWay.contains(number) else { return unfit() }
    let slot = Slot(object: object, part: number)
    let landing = scheduler.failed(slot, failure)
    switch landing {
    case .copyIsOut: return []
    case .arrived(let receipt), .arrivedTwice(let receipt): return arrived(receipt)
    case .takenBack, .failed: parts.underWay.remove(number)
    }
    guard isSending else { return stopIfQuiet() }
    if case .takenBack = landing {
      parts.sendLater(number)
      return []
    }
    if failure.code == .checksumUnsupported, canStartAnew, let steps = stepDown(failure) {
      return [steps] + startAnew(&scheduler)
    }
    // Another user of the ticket may have completed it.
    if failure.code == .uploadGone, settings.isTicket, restarts < 3, canStartAnew { return startAnew(&scheduler) }
    // Aborted nevertheless: a store that has only temporarily lost the upload would keep its parts, and charge for
    // them.
    if failure.code == .uploadGone, restarts < 3, canStartAnew {
      return [.say(.startsAnew(why: "the store no longer has the upload"))] + startAnew(&scheduler)
    }
    if failure.code == .stalled { parts.stalled(number) }
    return scheduler.retry(.transfer(slot), after: failure, attempt: parts.attempts[number - 1])?.notices
      ?? fail(failure, &scheduler)
  }

  /// The next try of a part, or of the single request that the object is waiting for.
  mutating func again(_ part: Int?, _ scheduler: inout Scheduler) -> [Action] {
    if let part, part > 0 { return isSending ? [send(part, &scheduler)] : [] }
    switch state {
    case .checking: return [.check]
    case .gathering: return uploadID.map { [.listParts(uploadID: $0)] } ?? []
    case .creating: return [.create(form)]
    case .cleaning: return cleanUp(&scheduler) { $0.resume() }
    case .publishing(let completion):
      if completion.isPut { beginWhole(&scheduler) }
      return completion.request(form: form).map { [$0] } ?? []
    case .looking:
      switch lookup.state {
      case .finding: return [.find]
      case .listing(let candidate, _), .settling(let candidate, _, _, _):
        return [.listParts(uploadID: candidate.uploadID)]
      case .ending: return cleanUp(&scheduler) { $0.resume() }
      default: return []
      }
    default: return []
    }
  }

  // MARK: - Streams

  /// Reads another piece if the window has room for it, so that memory is bounded.
  private mutating func readMore(_ scheduler: Scheduler) -> [Action] {
    guard settings.isStream, !parts.stream.hasEnded, !parts.stream.isReading,
      scheduler.occupied + parts.queue.waitingPieces < scheduler.width
    else { return [] }
    parts.stream.isReading = true
    return [.read]
  }

  mutating func piece(_ size: Int64, isLast: Bool) -> [Action] {
    parts.stream.isReading = false
    switch state {
    // A stream that ends within its first piece is one PutObject, after its end has been checked.
    case .reading where isLast && !settings.isTicket:
      parts.stream.hasEnded = true
      state = .confirming
      return [.confirm]
    case _ where isEnding: return readEnded()
    // Also while another upload begins, because no piece can be read twice.
    default:
      parts.stream.hasEnded = isLast
      parts.take(pieceOf: size)
      if case .reading = state { return begin() }
      return []
    }
  }

  /// Stops a stream whose command has failed at once: the pending read may then be answered at any time.
  private mutating func readEnded() -> [Action] {
    if case .stopping = state { stopIfQuiet() } else { [] }
  }

  mutating func streamEnded() -> [Action] {
    parts.stream.isReading = false
    parts.stream.hasEnded = true
    guard isSending else { return readEnded() }
    return isWhole ? finishParts() : []
  }

  mutating func readFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    parts.stream.isReading = false
    if isEnding { return readEnded() }
    switch state {
    case .reading, .sending: return fail(failure, &scheduler)
    // While another upload begins, a create may be running, whose answer is awaited.
    default: return interrupted(failure, &scheduler)
    }
  }

  /// Whether what is still read will not be sent.
  private var isEnding: Bool {
    switch state {
    case .stopping(.beginningAnew, _), .cleaning(_, .beginningAnew): false
    case .stopping, .cleaning, .done: true
    default: false
    }
  }

  mutating func confirmed(_ failure: Failure?, _ scheduler: inout Scheduler) -> [Action] {
    guard case .confirming = state else { return unfit() }
    if let interruption { return fail(interruption, &scheduler) }
    if let failure { return fail(failure, &scheduler) }
    return receipts.isEmpty ? begin() : complete()
  }

  // MARK: - Beginning again

  mutating func stepDown(_ failure: Failure) -> Action? {
    guard failure.code == .checksumUnsupported, settings.formIsFree,
      let next = form.steppedDown(payloadIsSigned: settings.payloadIsSigned)
    else { return nil }
    defer { form = next }
    return .say(.checksumChanged(from: form, to: next, why: failure.message))
  }

  /// Whether another upload can begin: the bytes of a stream's part are released once the store has it.
  var canStartAnew: Bool { !settings.isStream || parts.done == 0 }

  /// Aborts the upload and begins another; running transfers are stopped first.
  mutating func startAnew(_ scheduler: inout Scheduler) -> [Action] {
    restarts += 1
    return leave(.beginningAnew, &scheduler)
  }

  mutating func resetParts() {
    uploadID = nil
    isRecorded = false
    parts.reset()
    if lookup.hasLooked { lookup.state = .over(resumed: nil) }
  }
}
