import MultipartBasics
@testable import MultipartCore

/// A machine that sends over a model of a line. In the simple one the parts being sent share its rate, and a new connection
/// doubles its own rate with each round trip.
struct PlayedUpload {
  struct Part {
    var number: Int
    var gone = 0.0
    /// The bytes that were accepted, more than were sent if something on the way buffers.
    var taken = 0.0
    var takenAt: Duration = .zero
    /// How long its connection has been sending.
    var age: Duration
    var wire = ModelLine.Wire()
  }

  private(set) var story: MachineStory
  var limit: Int64?
  /// The rate in bytes a second, by the number of connections.
  var rate: (Int) -> Double
  var roundTrip: Duration = .milliseconds(20)
  /// The bytes of each connection that a device before the line accepts and acknowledges at once; nil: there is no such
  /// device.
  var buffer: Double?
  /// How long the store needs for an answer once it has a part.
  var answerTime: Duration = .zero
  /// The line to use instead of the rate.
  var line: ModelLine?
  private(set) var out: [Part] = []
  private(set) var done: [Int] = []
  private(set) var copies = 0
  /// The most parts sent at once.
  private(set) var most = 0
  /// The bytes that had been sent of parts that were stopped.
  private(set) var lost = 0.0
  private var idle: [Part] = []
  private var cancelled: [Int] = []
  private(set) var delivered = 0.0
  /// The parts that were sent, with the time of their answers.
  private var unanswered: [Int: Duration] = [:]
  /// Tries that ended because nothing moved for 30 s.
  private(set) var stalls = 0
  /// The totals of connections that have been closed.
  private var ended = ModelLine.Wire()
  private var held: Duration = .zero

  static let step: Duration = .milliseconds(25)

  init(
    parts: Int, partSize: Int64 = 8 << 20, bounds: Pace.Bounds? = Pace.Bounds(start: 8, most: 48, opening: 8),
    limit: Int64? = nil, concurrency: Int = 8, buffers: Buffers = .possible, line: ModelLine? = nil,
    rate: @escaping (Int) -> Double = { _ in 0 }
  ) throws {
    var settings = SoloSettings(
      plan: try UploadPlan(size: partSize * Int64(parts), partSize: partSize), concurrency: concurrency,
      form: .algorithm(.crc64nvme), seed: 1)
    settings.pace = bounds
    settings.pace?.limit = limit
    settings.limitRate = limit
    self.limit = limit
    settings.hedges = true
    settings.buffers = buffers
    settings.keepsOn = [.interrupted]
    story = MachineStory(settings)
    (self.rate, self.line) = (rate, line)
    story.begin()
    take(story.tell(.created(uploadID: "id1", isRecorded: true)))
  }

  mutating func tell(_ event: Run<UploadMachine>.Event) {
    take(story.tell(event))
  }

  private mutating func take(_ actions: [UploadMachine.Action]) {
    for action in actions {
      switch action {
      case .send(let part, _, _, _):
        let free = idle.popLast()
        out.append(
          Part(number: part, takenAt: story.now, age: free?.age ?? .zero, wire: free?.wire ?? ModelLine.Wire()))
      case .sendCopy: copies += 1
      case .cancelPart(let part), .takeBack(let part): cancelled.append(part)
      case .cancelTransfers: cancelled += out.map(\.number)
      default: break
      }
    }
    most = max(most, out.count)
  }

  /// Breaks all connections, as when the machine moves to another network.
  mutating func breakAll() {
    let broken = out
    (out, idle, unanswered) = ([], [], [:])
    for part in broken {
      lost += part.gone
      (ended.sent, ended.again) = (ended.sent + part.wire.sent, ended.again + part.wire.again)
      take(story.failed(part.number, .network))
    }
  }

  /// Samples the line at each step.
  mutating func run(_ time: Duration) {
    let end = story.now + time
    while story.now < end, story.outcome == nil {
      story.now += Self.step
      for number in cancelled {
        guard let index = out.firstIndex(where: { $0.number == number }) else { continue }
        let stopped = out.remove(at: index)
        unanswered[number] = nil
        lost += stopped.gone
        (ended.sent, ended.again) = (ended.sent + stopped.wire.sent, ended.again + stopped.wire.again)
        take(story.failed(number, .interrupted))
      }
      cancelled = []
      move()
      var sample = LineSample(at: story.now, delivered: Int64(delivered))
      sample.limit = limit
      sample.roundTrip = line?.currentTrip ?? roundTrip
      sample.leastTrip = line?.roundTrip ?? roundTrip
      for wire in (out + idle).map(\.wire) + [ended] {
        sample.segments += Int64(wire.sent)
        sample.lost += Int64(wire.again)
      }
      held += Self.step * out.count * (buffer == nil ? 0.9 : 0.02)
      sample.held = held
      take(story.tell(.sampled(sample, parts: Dictionary(out.map { ($0.number, Int64($0.taken)) }) { $1 })))
      take(story.tell(.tick))
    }
  }

  private mutating func move() {
    guard !out.isEmpty else { return }
    if line != nil { return carry() }
    let seconds = Self.step / .seconds(1)
    let share = rate(out.count) * seconds / Double(out.count)
    let size = Double(story.settings.plan.partSize)
    for index in out.indices {
      // A connection begins with ten packets.
      let trips = min(30, out[index].age / max(roundTrip, .microseconds(50)))
      var doubled = 14_600.0
      for _ in 0..<Int(trips) { doubled *= 2 }
      let moved = min(share, doubled * (Self.step / max(roundTrip, .microseconds(50))))
      out[index].gone = min(size, out[index].gone + moved)
      out[index].age += Self.step
    }
    arrive()
  }

  private mutating func carry() {
    var wires = out.map(\.wire)
    let moved = line?.carry(&wires, for: Self.step) ?? []
    let size = Double(story.settings.plan.partSize)
    for index in out.indices {
      (out[index].gone, out[index].wire) = (min(size, out[index].gone + moved[index]), wires[index])
    }
    arrive()
  }

  private mutating func arrive() {
    let size = Double(story.settings.plan.partSize)
    for index in out.indices {
      let taken = min(size, out[index].gone + (buffer ?? 0))
      guard taken > out[index].taken else { continue }
      delivered += taken - out[index].taken
      (out[index].taken, out[index].takenAt) = (taken, story.now)
    }
    for part in out where buffer != nil && story.now - part.takenAt >= .seconds(30) {
      out.removeAll { $0.number == part.number }
      unanswered[part.number] = nil
      stalls += 1
      lost += part.gone
      take(story.failed(part.number, .stalled))
    }
    for part in out where part.gone >= size {
      let due = unanswered[part.number] ?? story.now + answerTime
      unanswered[part.number] = due
      guard story.now >= due else { continue }
      unanswered[part.number] = nil
      out.removeAll { $0.number == part.number }
      idle.append(part)
      done.append(part.number)
      take(story.done(part.number))
    }
  }
}
