/// The parts that are still to be sent, in order: those never sent, by a counter, and those that come back.
struct PartQueue: Sendable {
  private let count: Int
  private var nextNew = 1
  private var left: Set<Int> = []
  private var again: [Int] = []

  /// The parts of a file. A stream has none at first: they are added as they come.
  init(count: Int) {
    self.count = count
  }

  /// Not to be sent: somebody looks whether the store has them.
  mutating func leaveOut(_ numbers: some Sequence<Int>) {
    left.formUnion(numbers)
  }

  mutating func add(_ number: Int) {
    again.append(number)
  }

  mutating func next() -> Int? {
    if !again.isEmpty { return again.removeFirst() }
    guard !isExhausted() else { return nil }
    defer { nextNew += 1 }
    return nextNew
  }

  /// Nothing is left to send, but what may come back.
  mutating func isExhausted() -> Bool {
    guard again.isEmpty else { return false }
    while nextNew <= count, left.contains(nextNew) { nextNew += 1 }
    return nextNew > count
  }

  var waitingPieces: Int { again.count }
}
