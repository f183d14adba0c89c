/// The parts of one object: which ones the store has, which ones are being sent, which ones are still to be sent or
/// compared.
struct Sending: Sendable {
  /// The comparison of parts that the store had before this run with the local bytes.
  struct Comparison: Sendable {
    /// Listed parts that are still to be compared, last first.
    var left: [Int] = []
    var underWay: Set<Int> = []
    /// One part does not match the source.
    var hasRejected = false
    var kept = 0
    var keptBytes: Int64 = 0

    var isOver: Bool { left.isEmpty && underWay.isEmpty }
  }

  /// How far a stream has been read.
  struct Stream: Sendable {
    var isReading = false
    var hasEnded = false
    /// The size of each piece read so far; each is a part.
    var sizes: [Int64] = []
  }

  /// The receipts by part number minus one.
  private(set) var receipts: [PartReceipt?]
  private(set) var attempts: [Int]
  var queue: PartQueue
  private(set) var done = 0
  var underWay: Set<Int> = []
  /// Parts to be sent over a new connection, because no byte moved on the last one.
  private var fresh: Set<Int> = []
  var comparison = Comparison()
  var stream = Stream()
  /// The parts of this run's share; nil: all.
  private let share: Range<Int>?

  init(count: Int, share: Range<Int>? = nil) {
    self.share = share
    queue = PartQueue(count: count)
    if let share {
      queue.leaveOut(1..<share.lowerBound)
      queue.leaveOut(share.upperBound..<count + 1)
    }
    receipts = Array(repeating: nil, count: count)
    attempts = Array(repeating: 0, count: count)
  }

  /// Whether no part is being sent or compared.
  var isQuiet: Bool { underWay.isEmpty && comparison.underWay.isEmpty }
  /// Whether all parts of this run are at the store.
  var isWhole: Bool { done == share?.count ?? receipts.count }

  /// Forgets all parts, because another upload begins. The pieces of a stream that were read are sent again.
  mutating func reset() {
    let read = stream
    self = Sending(count: receipts.count, share: share)
    stream = read
    guard !read.sizes.isEmpty else { return }
    queue = PartQueue(count: 0)
    for number in 1...read.sizes.count { queue.add(number) }
  }

  // MARK: - Sending

  mutating func begin(_ number: Int) -> (attempt: Int, freshConnection: Bool) {
    underWay.insert(number)
    attempts[number - 1] += 1
    return (attempts[number - 1], fresh.contains(number))
  }

  mutating func arrived(_ receipt: PartReceipt) {
    fresh.remove(receipt.number)
    receipts[receipt.number - 1] = receipt
    done += 1
  }

  /// A part that arrived late is in the record, and counts in the final report.
  mutating func arrivedLate(_ receipt: PartReceipt) { receipts[receipt.number - 1] = receipt }

  /// A part of another share.
  mutating func sentByOthers(_ receipt: PartReceipt) {
    receipts[receipt.number - 1] = receipts[receipt.number - 1] ?? receipt
  }

  mutating func stalled(_ number: Int) { fresh.insert(number) }

  /// Sends the part later. Nothing was wrong with it, so the try does not count.
  mutating func sendLater(_ number: Int) {
    attempts[number - 1] -= 1
    queue.add(number)
  }

  mutating func take(pieceOf size: Int64) {
    receipts.append(nil)
    attempts.append(0)
    stream.sizes.append(size)
    queue.add(stream.sizes.count)
  }

  // MARK: - Comparing

  /// Comparing costs CPU and disk, not the network, so two parts are compared at a time.
  private static let comparisons = 2

  mutating func compare(_ numbers: some Sequence<Int>) {
    let numbers = numbers.filter { share?.contains($0) ?? true }.sorted(by: >)
    queue.leaveOut(numbers)
    comparison.left = numbers
  }

  mutating func compareMore() -> [UploadMachine.Action] {
    var actions: [UploadMachine.Action] = []
    while comparison.underWay.count < Self.comparisons, let number = comparison.left.popLast() {
      comparison.underWay.insert(number)
      actions.append(.verify(part: number))
    }
    return actions
  }

  mutating func verified(_ receipt: PartReceipt) {
    arrived(receipt)
    comparison.kept += 1
    comparison.keptBytes += receipt.size
  }

  mutating func rejected(_ number: Int) {
    comparison.hasRejected = true
    queue.add(number)
  }
}
