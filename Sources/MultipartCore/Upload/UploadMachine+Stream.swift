extension UploadMachine {
  /// How far a stream has been read.
  struct Stream: Sendable {
    var isReading = false
    var hasEnded = false
    /// Pieces that have come, each a part.
    var received = 0
    /// How long each of them is.
    var sizes: [Int64] = []
  }

  /// Another piece is read when there is room for it in the window: no more of them are in memory.
  mutating func readMore() -> [Action] {
    guard settings.isStream, !stream.hasEnded, !stream.isReading, phase == .sending,
      inFlight.count + waiting.count + queue.waitingPieces < window
    else { return [] }
    stream.isReading = true
    return [.read]
  }

  mutating func piece(_ number: Int, size: Int64, isLast: Bool) -> [Action] {
    stream.isReading = false
    guard phase == .reading || phase == .sending else { return stopIfQuiet() }
    stream.received = number
    stream.hasEnded = isLast
    // A stream that ends within its first piece is one PutObject, once its end has been judged.
    if phase == .reading, isLast {
      phase = .confirming
      return [.confirm]
    }
    receipts.append(nil)
    attempts.append(0)
    stream.sizes.append(size)
    queue.add(number)
    return phase == .reading ? begin() : fill()
  }

  mutating func ended() -> [Action] {
    stream.isReading = false
    stream.hasEnded = true
    guard phase == .sending else { return stopIfQuiet() }
    return isWhole ? finishParts() : fill()
  }

  mutating func readFailed(_ failure: Failure) -> [Action] {
    stream.isReading = false
    guard phase == .reading || phase == .sending else { return stopIfQuiet() }
    return fail(failure)
  }

  mutating func confirmed(_ failure: Failure?) -> [Action] {
    guard phase == .confirming else { return [] }
    if cause != nil { return leave() }
    if let failure { return fail(failure) }
    return receipts.isEmpty ? put() : complete()
  }
}
