extension UploadMachine {
  /// The object is there and proven: nothing is left to abort, whatever comes now. A record goes on naming the upload,
  /// so that the next run finds it complete.
  mutating func inspect(_ evidence: String) -> [Action] {
    publication = .proven(evidence)
    if !isRecorded { uploadID = nil }
    phase = .inspecting
    phaseAttempts = 1
    return [.inspect]
  }

  mutating func inspected(_ inspection: Inspection) -> [Action] {
    guard phase == .inspecting, case .proven(let evidence) = publication else { return [] }
    phase = .done
    switch inspection {
    case .kept(let unconfirmed, _):
      let open = unconfirmed.isEmpty ? "" : "; not confirmed: " + unconfirmed.joined(separator: ", ")
      return [.finish(.completed(evidence: evidence + open))]
    case .lost(let failure):
      cause = failure
      return [.finish(.failed(failure.code))]
    }
  }

  mutating func inspectFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .inspecting else { return [] }
    if let interruption { return unconfirmed(interruption) }
    phaseAttempts += 1
    return retry(nil, failure, attempt: phaseAttempts - 1, now) ?? unconfirmed(failure)
  }

  /// The look that is out is the last one, and what it shows counts.
  mutating func stopInspecting(_ failure: Failure) -> [Action] {
    guard interruption == nil else { return [] }
    interruption = failure
    return waiting.isEmpty ? [] : unconfirmed(failure)
  }

  /// A record, where there is one, lets the next run begin with this look: it finds the object complete.
  private mutating func unconfirmed(_ failure: Failure) -> [Action] {
    var cause = failure
    cause.message += "; the object is there and proven, but not that it has what was asked for it"
    self.cause = cause
    waiting = []
    phase = .done
    return [.finish(.failed(failure.code, isKept: isRecorded && settings.keepsOn.contains(failure.code)))]
  }
}
