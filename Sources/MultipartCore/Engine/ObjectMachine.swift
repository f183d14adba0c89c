/// What a run asks of the machine for one of its objects, whichever way the object goes. A machine takes events and returns
/// actions; each action is answered by at most one event. It has no clock, file or network.
package protocol ObjectMachine: Sendable {
  associatedtype Event: Sendable
  associatedtype Action: Sendable
  /// What the answer to a transfer leaves with the object.
  associatedtype Receipt: TransferReceipt

  /// Which of the run's objects it is for; the run sets it.
  var object: Int { get set }
  var standing: Standing { mutating get }

  /// The object's turn has come.
  mutating func start(_ scheduler: inout Scheduler<Receipt>) -> [Action]
  mutating func handle(_ event: Event, _ scheduler: inout Scheduler<Receipt>) -> [Action]
  /// Time has passed.
  mutating func tick(_ scheduler: inout Scheduler<Receipt>) -> [Action]
  /// A wait is over: for the next try of this part, or, if nil, of the one request that the object is waiting for.
  mutating func again(_ part: Int?, _ scheduler: inout Scheduler<Receipt>) -> [Action]
  mutating func interrupted(_ failure: Failure, _ scheduler: inout Scheduler<Receipt>) -> [Action]
  /// Begins what there is room for.
  mutating func fill(_ scheduler: inout Scheduler<Receipt>) -> [Action]
  /// Transfers a part a second time, while the first transfer of it goes on.
  func copy(_ part: Int, freshConnection: Bool) -> Action
  /// Stops what is running for a part; it still answers.
  func cancel(_ part: Int) -> Action
}

/// What the run has to know about an object after each event.
package struct Standing: Sendable {
  package var isDone = false
  /// It has begun and will transfer something, but does not yet.
  package var isPreparing = false
  /// Some of its bytes are on their way, or will be soon.
  package var isTransferring = false
  /// Nothing is left to transfer except what is under way.
  package var allIsOut = true
  /// It can begin something as soon as there is room.
  package var mayFill = false

  package init() {}
}

package protocol TransferReceipt: Sendable {
  /// Whether it does not matter which of two answers to the same transfer counts.
  func agrees(with other: Self) -> Bool
}
