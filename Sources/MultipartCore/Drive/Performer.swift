/// Performs what the machine of one object decides, in either direction: each action is one task, and each task ends
/// with one event.
protocol Performer: AnyObject, Sendable {
  associatedtype Machine: ObjectMachine
  associatedtype Output: Sendable

  /// Call it once, before anything else; it may wait for another run.
  func prepare() async throws(Failure) -> Entrant<Machine>
  /// Binds the events to this object of the run from now on.
  func begin(as object: Int)
  func perform(_ action: Machine.Action, for machine: Machine) -> Performed<Machine.Event, Output>
  /// An event has arrived that the machine has not seen yet.
  func note(_ event: Machine.Event)
  /// Shows the state of the machine to users.
  func show(_ machine: Machine, _ retries: Retries)
  /// The run uses a different number of connections.
  func paced(_ change: Pace.Change)
  /// How many bytes of each part the other side has acknowledged, or were received, for its first transfer.
  var moved: [Int: Int64] { get }
  /// What it is about, what it is doing, and what its result comes to, for a timeline.
  var place: Place { get }
  var activity: UploadActivity { get }
  func totals(of output: Output) -> TraceTotals
  /// Ends what occupies threads, because an interruption needs them.
  func stop()
  /// The failure if the run was cut short before the machine had finished.
  func endUnfinished(_ machine: Machine) -> Failure
  /// Whether `settle` has something to wait for.
  var mustSettle: Bool { get }
  /// What is done after the end, before the result is reported.
  func settle(_ result: Result<Output, Failure>) async
}

/// An object that joins a run.
struct Entrant<Machine: ObjectMachine>: Sendable {
  var machine: Machine
  var partSize: Int64
  /// Whether the object is transferred in a single request.
  var isOneRequest: Bool
}

/// The immediate result of an action.
enum Performed<Event: Sendable, Output: Sendable> {
  /// Its event will come.
  case begun
  case answered(Event)
  /// The action was the last one.
  case ended(Result<Output, Failure>)
}
