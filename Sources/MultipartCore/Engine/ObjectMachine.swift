/// What a run requires of the machine for one of its objects, in either direction. A machine takes events and returns
/// actions; each action is answered by at most one event. It has no clock, file or network.
protocol ObjectMachine: Sendable {
  associatedtype Event: Sendable
  associatedtype Action: Sendable
  /// What the answer to a transfer leaves with the object.
  associatedtype Receipt: TransferReceipt

  /// The object's number in the run, which the run sets.
  var object: Int { get set }
  var standing: Standing { mutating get }

  /// The object's turn has come.
  mutating func start(_ scheduler: inout Scheduler<Receipt>) -> [Action]
  mutating func handle(_ event: Event, _ scheduler: inout Scheduler<Receipt>) -> [Action]
  /// Time has passed.
  mutating func tick(_ scheduler: inout Scheduler<Receipt>) -> [Action]
  /// Continues after a wait: for the next try of this part, or, if nil, of the single request that the object is
  /// waiting for.
  mutating func again(_ part: Int?, _ scheduler: inout Scheduler<Receipt>) -> [Action]
  mutating func interrupted(_ failure: Failure, _ scheduler: inout Scheduler<Receipt>) -> [Action]
  /// Starts as much as there is room for.
  mutating func fill(_ scheduler: inout Scheduler<Receipt>) -> [Action]
  /// Transfers a part a second time, while its first transfer continues.
  func copy(_ part: Int, freshConnection: Bool) -> Action
  /// Stops what is running for a part; it still answers.
  func cancel(_ part: Int) -> Action
}

/// What the run has to know about an object after each event.
struct Standing: Sendable {
  var isDone = false
  /// The object has started and will transfer something, but does not yet.
  var isPreparing = false
  /// Some of its bytes are on their way, or will be soon.
  var isTransferring = false
  /// Everything that is left to transfer is being transferred.
  var allIsOut = true
  /// The object can start something as soon as there is room.
  var mayFill = false

  init() {}
}

protocol TransferReceipt: Sendable {
  /// Whether it does not matter which of two answers to the same transfer counts.
  func agrees(with other: Self) -> Bool
}
