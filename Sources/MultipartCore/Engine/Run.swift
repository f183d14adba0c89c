/// All objects of a run and the one window that they share: passes each event to its object, and gives every free slot
/// to the object that started first and has something to transfer. It has no clock, file or network.
struct Run<Machine: ObjectMachine>: Sendable {
  typealias Scheduler = MultipartCore.Scheduler<Machine.Receipt>

  enum Event: Sendable {
    case of(Int, Machine.Event)
    /// The time of a `wake` has come, or may have come.
    case tick
    /// What the line has done since the last sample, and how much of each running transfer the other side has
    /// acknowledged.
    case sampled(LineSample, moved: [Slot: Int64] = [:])
    /// The run has to end: nothing new is begun.
    case interrupted(Failure)
  }

  enum Order: Sendable {
    case act(object: Int, Machine.Action)
    /// A `tick` is due at this time.
    case wake(at: Duration)
    /// The number of connections changes. The object is one of those that use them.
    case paced(object: Int, Pace.Change)
  }

  private(set) var scheduler: Scheduler
  /// What was known about an object after its last event.
  private struct Known: Sendable {
    /// The object's place in the order in which objects start.
    var rank = 0
    var isActive = false
    var standing = Standing()
  }

  /// The machines, read and changed in place (`withMachine`): a copy of a machine would make the next change copy all
  /// its parts.
  private var machines: [Int: Machine] = [:]
  private var known: [Int: Known] = [:]
  /// The running objects, in the order in which they started.
  private var active: [Int] = []
  /// Those of the running objects that can start something as soon as there is room, in the same order: after each
  /// event only these are asked.
  private var fillable: [Int] = []
  /// How many of the running objects have something left to transfer that is not being transferred.
  private var unfinished = 0
  /// Objects that have not started yet.
  private var pending: ArraySlice<Int> = []
  private var added = 0
  private var rank = 0
  /// How many have started since the last call.
  private var begun = 0
  /// More objects may be added.
  private var isOpen = true
  private var interruption: Failure?

  init(_ settings: RunSettings) {
    scheduler = Scheduler(settings, partSize: settings.partSize)
  }

  /// Adds an object. An object of an interrupted run ends at once.
  mutating func add(_ object: Int, _ machine: Machine, partSize: Int64) {
    if added == 0 { scheduler.recut(partSize) }
    added += 1
    machines[object] = machine
    machines[object]?.object = object
    known[object] = Known()
    pending.append(object)
  }

  /// Nothing more will be added.
  mutating func close() { isOpen = false }

  /// Whether every object that was added has ended.
  var isOver: Bool { active.isEmpty && pending.isEmpty }

  /// How many have started, or ended before they could start, since the last call.
  mutating func takeBegun() -> Int {
    defer { begun = 0 }
    return begun
  }

  subscript(object: Int) -> Machine? { machines[object] }

  /// Calls `body` with a machine; nil if there is no such object.
  mutating func withMachine<Result>(_ object: Int, _ body: (inout Machine) -> Result) -> Result? {
    machines.index(forKey: object).map { body(&machines.values[$0]) }
  }

  /// Removes an object that has ended, and that will not be asked for any more.
  mutating func remove(_ object: Int) {
    guard withMachine(object, { $0.standing.isDone }) == true else { return }
    machines[object] = nil
    known[object] = nil
  }

  /// Starts the objects that have been added.
  mutating func begin(at now: Duration) -> [Order] {
    scheduler.now = now
    return fill() + wakes()
  }

  mutating func handle(_ event: Event, at now: Duration) -> [Order] {
    scheduler.now = now
    var orders: [Order] = []
    switch event {
    case .of(let object, let event): orders = tell(object) { $0.handle(event, &$1) }
    case .tick:
      for object in active { orders += tell(object) { $0.tick(&$1) } }
      for waiter in scheduler.takeDue() {
        var part: Int?
        if case .transfer(let slot) = waiter { part = slot.part }
        orders += tell(waiter.object) { $0.again(part, &$1) }
      }
    case .sampled(let sample, let moved): return look(sample, moved) + wakes()
    case .interrupted(let failure):
      interruption = interruption ?? failure
      for object in active {
        let failure = scheduler.nextTry(of: object).map { failure.endedWaiting(after: $0.why) } ?? failure
        orders += tell(object) { $0.interrupted(failure, &$1) }
      }
    }
    return orders + fill() + wakes()
  }

  private mutating func tell(
    _ object: Int, _ what: (inout Machine, inout Scheduler) -> [Machine.Action]
  ) -> [Order] {
    guard let index = machines.index(forKey: object) else { return [] }
    let actions = what(&machines.values[index], &scheduler)
    review(object)
    return actions.map { .act(object: object, $0) }
  }

  private mutating func wakes() -> [Order] { scheduler.takeWakes().map { .wake(at: $0) } }

  /// Keeps what is known of the object up to date.
  private mutating func review(_ object: Int) {
    guard let known = known[object], known.isActive, let now = withMachine(object, { $0.standing }) else { return }
    let before = known.standing
    self.known[object]?.standing = now
    scheduler.preparing += (now.isPreparing ? 1 : 0) - (before.isPreparing ? 1 : 0)
    unfinished += (now.allIsOut ? 0 : 1) - (before.allIsOut ? 0 : 1)
    if now.isDone {
      self.known[object]?.isActive = false
      active.removeAll { $0 == object }
      fillable.removeAll { $0 == object }
      scheduler.forget(object)
    } else if now.mayFill, !fillable.contains(object) {
      let place = fillable.lastIndex { self.known[$0]?.rank ?? 0 < known.rank }
      fillable.insert(object, at: place.map { $0 + 1 } ?? 0)
    }
  }

  private mutating func look(_ sample: LineSample, _ moved: [Slot: Int64]) -> [Order] {
    let running = active
    guard let first = running.first(where: { known[$0]?.standing.isTransferring == true }) else { return [] }
    let look = scheduler.look(sample, moved)
    // A connection that has just sent its part is warm.
    let copies = look.copied.map { copy($0, freshConnection: false) } ?? []
    guard let change = look.change else { return copies }
    let stops = look.takenBack.compactMap { slot in order(slot.object) { $0.cancel(slot.part) } }
    return [.paced(object: first, change)] + stops + copies + fill()
  }

  private mutating func copy(_ slot: Slot, freshConnection: Bool) -> [Order] {
    order(slot.object) { $0.copy(slot.part, freshConnection: freshConnection) }.map { [$0] } ?? []
  }

  private mutating func order(_ object: Int, _ action: (inout Machine) -> Machine.Action) -> Order? {
    withMachine(object, action).map { .act(object: object, $0) }
  }

  // MARK: - Slots

  /// The most objects at once for each slot: those that are being completed or cleaned up need none.
  private static var mostForPlace: Int { 2 }

  private mutating func fill() -> [Order] {
    var orders: [Order] = []
    for object in fillable {
      orders += tell(object) { $0.fill(&$1) }
      if known[object]?.standing.mayFill != true { fillable.removeAll { $0 == object } }
    }
    if let interruption {
      for object in pending { orders += tell(object) { $0.interrupted(interruption, &$1) } }
      begun += pending.count
      pending = []
    }
    while scheduler.hasRoom, active.count < Self.mostForPlace * scheduler.width, let next = pending.popFirst() {
      begun += 1
      rank += 1
      known[next]?.rank = rank
      known[next]?.isActive = true
      active.append(next)
      orders += tell(next) { $0.start(&$1) }
      orders += tell(next) { $0.fill(&$1) }
    }
    scheduler.allIsOut = pending.isEmpty && !isOpen && unfinished == 0
    if let late = scheduler.hedge() { orders += copy(late, freshConnection: true) }
    return orders
  }
}
