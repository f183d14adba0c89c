/// Performs what the machine of one object decides, whichever way the object goes: each action is one task, and each task
/// ends in one event.
protocol Performer: AnyObject, Sendable {
  associatedtype Machine: ObjectMachine
  associatedtype Output: Sendable

  /// To be called once, before anything else; it may wait for another run.
  func prepare() async throws(Failure) -> Entrant<Machine>
  /// From here on its events are those of this object of the run.
  func begin(as object: Int)
  func perform(_ action: Machine.Action, for machine: Machine) -> Performed<Machine.Event, Output>
  /// An event has come, and the machine has not seen it yet.
  func note(_ event: Machine.Event)
  /// Shows people where the machine stands; `nextTry` is that of whatever waits for one.
  func show(_ machine: Machine, nextTry: (until: Duration, why: Wording)?)
  /// The run uses another number of connections.
  func paced(_ change: Pace.Change)
  /// How much the other side has acknowledged of each part, or has been received of it, for its first transfer.
  var moved: [Int: Int64] { get }
  /// What it is about, what it is doing, and what its result comes to, for a timeline.
  var place: Place { get }
  var activity: UploadActivity { get }
  func totals(of output: Output) -> TraceTotals
  /// Ends what occupies threads, because an interruption needs them.
  func stop()
  /// The run was cut short before the machine had finished.
  func endUnfinished(_ machine: Machine) -> Failure
  /// Whether `settle` has something to wait for.
  var mustSettle: Bool { get }
  /// What is done after the end, before the result is told.
  func settle(_ result: Result<Output, Failure>) async
}

/// An object that joins a run.
struct Entrant<Machine: ObjectMachine>: Sendable {
  var machine: Machine
  var partSize: Int64
  /// It goes in one request.
  var isOneRequest: Bool
}

/// What has become of an action at once.
enum Performed<Event: Sendable, Output: Sendable> {
  /// Its event will come.
  case begun
  case answered(Event)
  /// It was the last one.
  case ended(Result<Output, Failure>)
}
