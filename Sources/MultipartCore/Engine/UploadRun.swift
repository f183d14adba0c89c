/// All objects of a run and the one window they share: passes each event to its object, and gives every free place to
/// the object that began first and has something to send. It has no clock, file or network.
package struct UploadRun: Sendable {
  package enum Event: Sendable {
    case of(Int, UploadMachine.Event)
    /// The time of a `wait` has come, or may have.
    case tick
    /// What the line has done since, and how much of each running transfer the other side has acknowledged.
    case sampled(LineSample, moved: [Slot: Int64] = [:])
    /// The run has to end: nothing new is begun.
    case interrupted(Failure)
  }

  package struct Order: Sendable {
    package var object: Int
    package var action: UploadMachine.Action
  }

  package private(set) var scheduler: Scheduler
  private var uploads: [Int: UploadMachine] = [:]
  /// Running, in the order in which they began.
  private var active: [Int] = []
  /// Not begun yet.
  private var pending: ArraySlice<Int> = []
  private var isStopping = false

  package init(_ settings: Scheduler.Settings, partSize: Int64) {
    scheduler = Scheduler(settings, partSize: partSize)
  }

  /// A run of one object, which is object 0.
  package init(_ settings: Scheduler.Settings, _ upload: UploadMachine.Settings) {
    self.init(settings, partSize: upload.plan.partSize)
    add(0, upload)
  }

  package mutating func add(_ object: Int, _ settings: UploadMachine.Settings) {
    uploads[object] = UploadMachine(settings, object: object)
    pending.append(object)
  }

  package subscript(object: Int) -> UploadMachine? { uploads[object] }

  /// Removes an object that has ended, and about which nobody asks any more.
  package mutating func remove(_ object: Int) {
    guard uploads[object]?.isDone == true else { return }
    uploads[object] = nil
  }

  /// Begins with the objects that have been added.
  package mutating func begin(at now: Duration) -> [Order] {
    scheduler.now = now
    return fill()
  }

  package mutating func handle(_ event: Event, at now: Duration) -> [Order] {
    scheduler.now = now
    var orders: [Order] = []
    switch event {
    case .of(let object, let event): orders = tell(object) { $0.handle(event, &$1) }
    case .tick:
      for object in active { orders += tell(object) { $0.tick($1) } }
      for waiter in scheduler.takeDue() {
        var part: Int?
        if case .transfer(let slot) = waiter { part = slot.part }
        orders += tell(waiter.object) { $0.again(part, &$1) }
      }
    case .sampled(let sample, let moved): return look(sample, moved)
    case .interrupted(let failure):
      isStopping = true
      for object in active + pending { orders += tell(object) { $0.interrupted(failure, &$1) } }
      pending = []
    }
    return orders + fill()
  }

  private mutating func tell(
    _ object: Int, _ what: (inout UploadMachine, inout Scheduler) -> [UploadMachine.Action]
  ) -> [Order] {
    let actions = uploads[object]?.apply(what, &scheduler) ?? []
    return actions.map { Order(object: object, action: $0) }
  }

  private mutating func look(_ sample: LineSample, _ moved: [Slot: Int64]) -> [Order] {
    guard let first = active.first(where: { uploads[$0]?.isSending == true }) else { return [] }
    let look = scheduler.look(sample, moved)
    // A connection that has just sent its part is warm.
    let copies = look.copied.map { copy($0, freshConnection: false) } ?? []
    guard let change = look.change else { return copies }
    let notice = Order(object: first, action: .say(.paced(connections: change.connections, why: change.why)))
    return [notice] + look.takenBack.map { Order(object: $0.object, action: .cancelPart($0.part)) } + copies + fill()
  }

  private func copy(_ slot: Slot, freshConnection: Bool) -> [Order] {
    guard let form = uploads[slot.object]?.form else { return [] }
    return [
      Order(
        object: slot.object, action: .sendCopy(part: slot.part, form: form, freshConnection: freshConnection))
    ]
  }

  // MARK: - Places

  /// The most objects at once for each place: those that are being completed or cleaned up need none.
  private static let mostForPlace = 2

  private mutating func fill() -> [Order] {
    var orders: [Order] = []
    countPreparing()
    for object in active { orders += tell(object) { $0.fill(&$1) } }
    while !isStopping, scheduler.hasRoom, active.count < Self.mostForPlace * scheduler.width,
      let next = pending.popFirst()
    {
      active.append(next)
      orders += tell(next) { $0.handle(.start, &$1) }
      countPreparing()
      orders += tell(next) { $0.fill(&$1) }
    }
    scheduler.isDry = pending.isEmpty
    for object in active {
      if uploads[object]?.isDone == true { scheduler.forget(object) }
      if uploads[object]?.isDry == false { scheduler.isDry = false }
    }
    active.removeAll { uploads[$0]?.isDone == true }
    if let late = scheduler.hedge() {
      if let slot = late.slot { orders += copy(slot, freshConnection: true) }
      if let first = active.first { orders.append(Order(object: first, action: .wait(until: late.nextLook))) }
    }
    return orders
  }

  private mutating func countPreparing() {
    scheduler.preparing = active.count { uploads[$0]?.isPreparing == true }
  }
}
