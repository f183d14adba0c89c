extension UploadMachine {
  static let givesNoneBack = "the store gives no checksum back, so it verifies none"

  mutating func begin() -> [Action] {
    phaseAttempts = 1
    if settings.plan.isSingle {
      phase = .putting
      return [.put(form: form, attempt: 1, freshConnection: false)]
    }
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

  mutating func createFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .creating else { return [] }
    if cause != nil { return leave() }
    if let steps = stepDown(failure) { return [steps] + begin() }
    phaseAttempts += 1
    if let retry = retry(nil, failure, attempt: phaseAttempts - 1, now) { return retry }
    return fail(failure)
  }

  mutating func partDone(_ receipt: PartReceipt) -> [Action] {
    inFlight.remove(receipt.number)
    guard phase == .sending else { return stopIfQuiet() }
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
    if partsDone == settings.plan.partCount { return actions + complete() }
    return actions + fill()
  }

  mutating func partFailed(_ number: Int, _ failure: Failure, _ now: Duration) -> [Action] {
    inFlight.remove(number)
    guard phase == .sending else { return stopIfQuiet() }
    if failure.code == .throttled { narrow(now) }
    if let steps = stepDown(failure) { return [steps] + startAnew() }
    // Aborted all the same: a store that has only lost sight of it would keep, and charge for, its parts.
    if failure.code == .uploadGone, restarts < 3 {
      return [.say(.startsAnew(message: "the store no longer knows the upload"))] + startAnew()
    }
    if failure.code == .stalled { fresh.insert(number) }
    if let retry = retry(number, failure, attempt: attempts[number - 1], now) { return retry + fill() }
    return fail(failure)
  }

  /// Sends parts, in order, up to the window; parts that wait for their next try count too, so that a failing store
  /// does not get a fresh part for each one it refused.
  mutating func fill() -> [Action] {
    var actions: [Action] = []
    while nextPart <= settings.plan.partCount, inFlight.count + waiting.count < window {
      actions.append(send(nextPart))
      nextPart += 1
    }
    return actions
  }

  mutating func send(_ number: Int) -> Action {
    inFlight.insert(number)
    attempts[number - 1] += 1
    return .send(
      part: number, form: form, attempt: attempts[number - 1], freshConnection: fresh.contains(number))
  }

  // MARK: - Window

  /// One step down in two seconds: the answers to requests that were under way already say the same thing again.
  private mutating func narrow(_ now: Duration) {
    if let last = lastNarrowing, now - last < .seconds(2) { return }
    lastNarrowing = now
    window = max(1, window / 2)
    successesAtWindow = 0
  }

  private mutating func widen() {
    guard window < settings.concurrency else { return }
    successesAtWindow += 1
    if successesAtWindow >= 4 * window {
      window += 1
      successesAtWindow = 0
    }
  }

  // MARK: - Starting anew

  mutating func stepDown(_ failure: Failure) -> Action? {
    guard failure.code == .checksumUnsupported, settings.formIsFree,
      let next = form.steppedDown(payloadIsSigned: settings.payloadIsSigned)
    else { return nil }
    defer { form = next }
    return .say(.steppedDown(from: form, to: next, message: failure.message))
  }

  /// Ends the upload and begins another; transfers under way are stopped first.
  mutating func startAnew() -> [Action] {
    restarts += 1
    restartsAfterAbort = true
    return leave()
  }

  mutating func resetParts() {
    uploadID = nil
    nextPart = 1
    partsDone = 0
    for index in receipts.indices {
      receipts[index] = nil
      attempts[index] = 0
    }
    fresh = []
    waiting = []
  }
}
