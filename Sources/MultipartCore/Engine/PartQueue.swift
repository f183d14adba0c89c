/// The parts still to be sent, in order: new ones, by a counter, and those that have to be sent again.
struct PartQueue: Sendable {
  private let count: Int
  private var nextNew = 1
  private var left: Set<Int> = []
  private var again: [Int] = []
  /// How many of `again` were taken. They are not removed one by one: thousands can be returned at once, and each
  /// removal would move all others.
  private var taken = 0

  /// The parts of a file. A stream starts with none, and they are added as they are read.
  init(count: Int) {
    self.count = count
  }

  /// Leaves out parts that are compared with what the store has.
  mutating func leaveOut(_ numbers: some Sequence<Int>) {
    left.formUnion(numbers)
  }

  mutating func add(_ number: Int) {
    again.append(number)
  }

  mutating func next() -> Int? {
    if taken < again.count {
      defer { take() }
      return again[taken]
    }
    guard !isExhausted() else { return nil }
    defer { nextNew += 1 }
    return nextNew
  }

  private mutating func take() {
    taken += 1
    guard taken == again.count else { return }
    again.removeAll(keepingCapacity: true)
    taken = 0
  }

  /// Whether nothing is left to send, except parts that may be returned.
  mutating func isExhausted() -> Bool {
    guard again.isEmpty else { return false }
    while nextNew <= count, left.contains(nextNew) { nextNew += 1 }
    return nextNew > count
  }

  var waitingPieces: Int { again.count - taken }
}
