/// Measures since when transfers have been running, and since when all of their bytes have been handed over and only
/// the answer is missing: behind something that buffers that is long before the bytes have arrived.
struct Handover: Sendable {
  private struct Begun: Sendable {
    var at: Duration
    var alone: Duration
    var whole: Duration?
  }

  private var begun: [Slot: Begun] = [:]
  /// The time so far, each moment divided by the number of transfers that shared it.
  private var alone: Duration = .zero
  private var now: Duration = .zero
  /// The answers since the last call.
  private var answers: [AnswerPace.Answer] = []

  mutating func begin(_ slot: Slot, at time: Duration) {
    pass(to: time)
    begun[slot] = Begun(at: time, alone: alone)
  }

  mutating func answered(_ slot: Slot, size: Int64, at time: Duration) {
    pass(to: time)
    guard let part = begun.removeValue(forKey: slot) else { return }
    let waited = part.whole.map { time - $0 } ?? .zero
    answers.append(AnswerPace.Answer(size: size, took: time - part.at, alone: alone - part.alone, waited: waited))
  }

  mutating func ended(_ slot: Slot, at time: Duration) {
    pass(to: time)
    begun[slot] = nil
  }

  private mutating func pass(to time: Duration) {
    if !begun.isEmpty { alone += (time - now) / begun.count }
    now = time
  }

  mutating func see(_ parts: some Sequence<RunningTransfer>, _ moved: [Slot: Int64], at time: Duration) {
    for part in parts where begun[part.slot]?.whole == nil && moved[part.slot] ?? 0 >= part.size {
      begun[part.slot]?.whole = time
    }
  }

  mutating func takeAnswers() -> [AnswerPace.Answer] {
    defer { answers = [] }
    return answers
  }
}
