extension UploadMachine {
  static let givesNoneBack: Wording = "the store gives no checksum back, so it has not verified it"

  /// After the preconditions: a stream is read, a small source put, and for a large one an upload looked for.
  mutating func begin() -> [Action] {
    phaseAttempts = 1
    if settings.isStream, stream.received == 0 {
      phase = .reading
      stream.isReading = true
      return [.read]
    }
    guard settings.finds, !resume.hasLooked, !isPut || settings.hasRecord else { return isPut ? put() : create() }
    phase = .finding
    return [.find]
  }

  /// The source goes in one PutObject.
  var isPut: Bool { settings.plan.isSingle && !settings.isStream }

  mutating func put() -> [Action] {
    phase = .putting
    phaseAttempts = 1
    return [.put(form: form, attempt: 1, freshConnection: false)]
  }

  mutating func create() -> [Action] {
    createTries = 1
    return createOnce()
  }

  mutating func createOnce() -> [Action] {
    phase = .creating
    return [.create(form)]
  }

  /// A HEAD that is not allowed decides nothing: the store looks at the condition again at the end.
  mutating func checked(_ failure: Failure?, _ now: Duration) -> [Action] {
    guard phase == .checking else { return [] }
    if cause != nil { return leave() }
    phaseAttempts += 1
    guard let failure, failure.code != .credentials else { return begin() }
    if let retry = retry(nil, failure, attempt: phaseAttempts - 1, now) { return retry }
    return fail(failure)
  }

  mutating func created(_ id: String) -> [Action] {
    guard phase == .creating else { return [] }
    uploadID = id
    if cause != nil { return leave() }
    phase = .sending
    return fill()
  }

  /// A create that fails so may have made an upload.
  package static func mayHaveMade(_ code: Failure.Code) -> Bool {
    switch code {
    case .network, .stalled, .server: true
    default: false
    }
  }

  mutating func createFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .creating else { return [] }
    if Self.mayHaveMade(failure.code) { createWasLost = true }
    if cause != nil { return leave() }
    if let steps = stepDown(failure) { return [steps] + create() }
    createTries += 1
    if let retry = retry(nil, failure, attempt: createTries - 1, now) { return retry }
    return fail(failure)
  }

  mutating func partDone(_ receipt: PartReceipt) -> [Action] {
    var bothCount = false
    if phase == .sending, tail.twice.contains(receipt.number) {
      bothCount = tail.winner[receipt.number].map { $0.etag != receipt.etag } ?? false
      tail.winner[receipt.number] = receipt
    }
    guard isLastCopy(receipt.number) else { return [.cancelPart(receipt.number)] }
    // Both arrived, at a store that gives the same bytes another ETag each time, and which of them it keeps nobody
    // knows: sent once more, alone, the part has a known one. The bytes of a stream's part are gone by now.
    if bothCount, !settings.isStream {
      inFlight.remove(receipt.number)
      tail.winner[receipt.number] = nil
      return sendLater(receipt.number)
    }
    return arrived(tail.winner.removeValue(forKey: receipt.number) ?? receipt)
  }

  private mutating func arrived(_ receipt: PartReceipt) -> [Action] {
    inFlight.remove(receipt.number)
    takenBack.remove(receipt.number)
    tail.arrived(receipt.number, receipt.size, now)
    guard phase == .sending else {
      // It stands in the record, and is counted in what is said of the end.
      if phase == .stopping { receipts[receipt.number - 1] = receipt }
      return stopIfQuiet()
    }
    fresh.remove(receipt.number)
    receipts[receipt.number - 1] = receipt
    partsDone += 1
    widen()
    var actions: [Action] = []
    // The store took the part but did not say that it had verified it: the parts to come carry what it does verify.
    if settings.formIsFree, case .algorithm = form, receipt.checksum != nil, receipt.proof < .checksum,
      let next = form.steppedDown(payloadIsSigned: settings.payloadIsSigned)
    {
      actions.append(
        .say(.steppedDown(from: form, to: next, message: Self.givesNoneBack)))
      form = next
    }
    return actions + (isWhole ? finishParts() : fill())
  }

  /// Every part is at the store.
  var isWhole: Bool {
    partsDone == receipts.count && (!settings.isStream || stream.hasEnded)
  }

  /// A stream's end is judged before it is published; a file is looked at again by who completes it.
  mutating func finishParts() -> [Action] {
    guard settings.isStream else { return complete() }
    phase = .confirming
    return [.confirm]
  }

  mutating func partFailed(_ number: Int, _ failure: Failure, _ now: Duration) -> [Action] {
    // Of two copies the other one may still arrive, or has.
    guard isLastCopy(number) else { return [] }
    if let receipt = tail.winner.removeValue(forKey: number) { return arrived(receipt) }
    tail.twice.remove(number)
    tail.sentAt[number] = nil
    inFlight.remove(number)
    guard phase == .sending else { return stopIfQuiet() }
    if takenBack.remove(number) != nil, failure.code == .interrupted { return sendLater(number) }
    if failure.code == .throttled { narrow(now) }
    if failure.code == .checksumUnsupported, canStartAnew, let steps = stepDown(failure) {
      return [steps] + startAnew()
    }
    // Aborted all the same: a store that has only lost sight of it would keep, and charge for, its parts.
    if failure.code == .uploadGone, restarts < 3, canStartAnew {
      return [.say(.startsAnew(message: "the store no longer knows the upload"))] + startAnew()
    }
    if failure.code == .stalled { fresh.insert(number) }
    if let retry = retry(number, failure, attempt: attempts[number - 1], now) { return retry + fill() }
    return fail(failure)
  }

  /// Sends parts, in order, up to the window; parts that wait for their next try count too, so that a failing store
  /// does not get a fresh part for each one it refused.
  mutating func fill() -> [Action] {
    var actions = verifyMore()
    guard !isVetting else { return actions }
    while inFlight.count + waiting.count < window, let number = queue.next() { actions.append(send(number)) }
    return actions + readMore() + hedge()
  }

  mutating func send(_ number: Int) -> Action {
    inFlight.insert(number)
    tail.sentAt[number] = now
    attempts[number - 1] += 1
    return .send(
      part: number, form: form, attempt: attempts[number - 1], freshConnection: fresh.contains(number))
  }

  // MARK: - Starting anew

  mutating func stepDown(_ failure: Failure) -> Action? {
    guard failure.code == .checksumUnsupported, settings.formIsFree,
      let next = form.steppedDown(payloadIsSigned: settings.payloadIsSigned)
    else { return nil }
    defer { form = next }
    return .say(.steppedDown(from: form, to: next, message: failure.message))
  }

  /// The bytes of a stream's part are let go once the store has it: from then on there is no other upload for it.
  var canStartAnew: Bool { !settings.isStream || partsDone == 0 }

  /// Ends the upload and begins another; transfers under way are stopped first.
  mutating func startAnew() -> [Action] {
    restarts += 1
    restartsAfterAbort = true
    return leave()
  }

  mutating func resetParts() {
    uploadID = nil
    isRecorded = false
    queue = PartQueue(count: settings.isStream ? 0 : receipts.count)
    if settings.isStream { for number in 1...max(1, stream.received) { queue.add(number) } }
    resume.drop()
    tail = Tail()
    partsDone = 0
    for index in receipts.indices {
      receipts[index] = nil
      attempts[index] = 0
    }
    fresh = []
    waiting = []
    takenBack = []
  }
}
