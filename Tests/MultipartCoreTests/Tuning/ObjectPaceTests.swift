import MultipartBasics
import Testing

@testable import MultipartCore

/// The number of connections for small objects, against a model: each connection waits for its answer, and the machine
/// or the store can process only a certain number of objects a second.
@Suite struct ObjectPaceTests {
  struct Model {
    /// The wait for the answer to one object, on one connection.
    var wait: Duration
    /// The most objects a second, however many connections there are.
    var most: Double
    /// The round trip of the line alone; the rest of the wait is the store's.
    var trip: Duration
    var size: Int64 = 4096
    /// The line's rate in bytes per second.
    var line = 1e12
    var limit: Int64?
    var pace: ObjectPace
    var now = Duration.zero
    var arrived = 0.0
    var widest = 0
    var changes: [Pace.Change] = []

    init(wait: Duration, most: Double, trip: Duration? = nil, limit: Int64? = nil) {
      (self.wait, self.most, self.limit) = (wait, most, limit)
      self.trip = trip ?? wait
      pace = ObjectPace(start: 8, most: 256, limit: limit)
    }

    mutating func run(_ time: Duration, load: Double = 0) {
      let end = now + time
      while now < end {
        now += .milliseconds(100)
        let bytes = min(line, limit.map(Double.init) ?? line)
        arrived += min(Double(pace.window) / wait.seconds, most, bytes / Double(size)) * 0.1
        var sample = LineSample(at: now, delivered: Int64(arrived * Double(size)))
        (sample.roundTrip, sample.leastTrip) = (trip, trip)
        (sample.load, sample.limit) = (load, limit)
        let change =
          pace.follow(limit, at: now) ?? pace.take(sample, arrived: Int(arrived), size: size, isFull: true)
        if let change { changes.append(change) }
        widest = max(widest, pace.window)
      }
    }
  }

  @Test("Over a long line the window grows to 256 within two seconds, and stays there")
  func longLine() {
    var model = Model(wait: .milliseconds(50), most: 100_000)
    model.run(.seconds(2))
    #expect(model.pace.window == 256)
    model.run(.seconds(60))
    #expect(model.pace.window == 256)
  }

  @Test("A long line is reason enough for that, before the first answers arrive", arguments: [20, 50, 200])
  func beforeAnswers(_ trip: Int) {
    var pace = ObjectPace(start: 8, most: 256)
    var sample = LineSample(at: .milliseconds(trip + 10), delivered: 0)
    // More connections do not shorten a queue on the way.
    (sample.roundTrip, sample.leastTrip) = (.milliseconds(trip * 9), .milliseconds(trip))
    #expect(pace.take(sample, arrived: 0, size: 4096, isFull: false) == nil)
    #expect(pace.take(sample, arrived: 0, size: 4096, isFull: true)?.connections == min(256, 8 * trip * 4 / 5))
    #expect(pace.take(sample, arrived: 0, size: 4096, isFull: true) == nil)
  }

  @Test("Larger objects get more connections as soon as acknowledged bytes show that the line can carry them")
  func largerObjects() {
    var pace = ObjectPace(start: 8, most: 256)
    var sample = LineSample(at: .milliseconds(60), delivered: 0)
    (sample.roundTrip, sample.leastTrip) = (.milliseconds(50), .milliseconds(50))
    #expect(pace.take(sample, arrived: 0, size: 256 << 10, isFull: true)?.connections == 10)
    // The first windows of ten connections in a round trip: 2.8 MB a second.
    (sample.at, sample.delivered) = (.milliseconds(110), 140_000)
    #expect(pace.take(sample, arrived: 0, size: 256 << 10, isFull: true)?.connections == 106)
    // The next round trip carries twice as much.
    (sample.at, sample.delivered) = (.milliseconds(160), 420_000)
    #expect(pace.take(sample, arrived: 0, size: 256 << 10, isFull: true)?.connections == 256)
  }

  @Test("Where eight are enough the window returns to eight, and larger ones are tried ever more rarely")
  func loopback() {
    var model = Model(wait: .microseconds(500), most: 8000)
    model.run(.seconds(2))
    #expect(model.pace.window == 8)
    #expect(model.widest == 16)
    var tries = 0
    for _ in 0..<1000 {
      let before = model.pace.window
      model.run(.milliseconds(100))
      if model.pace.window > before { tries += 1 }
    }
    #expect((1...4).contains(tries))
  }

  @Test("The window stops growing at the store's rate")
  func slowStore() {
    var model = Model(wait: .milliseconds(20), most: 1000)
    model.run(.seconds(5))
    // 20 connections are enough for 1,000 objects a second.
    #expect((20...128).contains(model.pace.window))
  }

  @Test("A window larger than the store can serve at once shrinks, and stays small")
  func goesBack() {
    // The store serves 16 at once, in 20 ms each, at the end of a line of 20 ms.
    var model = Model(wait: .milliseconds(40), most: 400, trip: .milliseconds(20))
    model.run(.seconds(1))
    #expect(model.widest >= 128)
    model.run(.seconds(30))
    #expect((16...32).contains(model.pace.window), "\(model.changes)")
    let changes = model.changes.count
    model.run(.seconds(60))
    #expect(model.changes.count <= changes + 6 && (16...32).contains(model.pace.window), "\(model.changes)")
  }

  @Test("Where fewer are slower, the window grows again")
  func goesForth() {
    // The store answers in three round trips, each object at once.
    var model = Model(wait: .milliseconds(200), most: 100_000, trip: .milliseconds(50))
    model.run(.seconds(30))
    #expect(model.pace.window == 256)
    #expect(model.changes.contains { $0.why.hasSuffix("they are needed") }, "\(model.changes)")
  }

  @Test("A slow line gets as many as it carries in ten seconds, and more when it is faster")
  func slowLine() {
    var model = Model(wait: .milliseconds(100), most: 100_000)
    (model.size, model.line) = (40 << 10, 102_400)
    model.run(.seconds(30))
    #expect(model.widest <= 64 && model.pace.window <= 25, "\(model.changes)")
    model.line = 1e12
    model.run(.seconds(60))
    #expect(model.pace.window == 256, "\(model.changes)")
    // The line becomes slow, not for a pause, but for ten seconds.
    model.line = 1_048_576
    model.size = 400 << 10
    model.run(.seconds(8))
    #expect(model.pace.window == 256)
    model.run(.seconds(15))
    #expect(model.pace.window <= 26, "\(model.changes)")
  }

  @Test("Never more than the limit allows in ten seconds, and without the limit as many as before")
  func limit() {
    var model = Model(wait: .milliseconds(50), most: 100_000, limit: 100 << 10)
    model.size = 40 << 10
    model.run(.seconds(30))
    #expect(model.widest == 25)
    model.limit = nil
    model.run(.seconds(3))
    #expect(model.pace.window == 256)
    model.limit = 1 << 20
    model.run(.milliseconds(100))
    #expect(model.pace.window == 256)
    model.size = 400 << 10
    model.run(.milliseconds(100))
    #expect(model.pace.window == 25 && model.changes.last?.why == "the limit is 1.0 MiB/s")
    model.limit = .max
    model.run(.seconds(60))
    #expect(model.pace.window == 256)
  }

  @Test("The window remembers what a store has asked for while larger objects are sent")
  func flips() {
    var settings = RunSettings()
    settings.pace = Pace.Bounds(start: 8, most: 48)
    settings.mostSmall = 256
    var window = Window(settings, partSize: 8 << 20)
    var sample = LineSample(at: .seconds(1), delivered: 0)
    (sample.roundTrip, sample.leastTrip) = (.milliseconds(50), .milliseconds(50))
    window.carries(small: true)
    let change = window.take(sample, [], underWay: 8, size: 4096, arrived: 0, isFull: true)
    #expect(change?.connections == 256)
    window.narrow(at: .seconds(2))
    window.narrow(at: .seconds(4))
    #expect(window.width == 64)
    window.carries(small: false)
    window.carries(small: true)
    sample.at = .seconds(5)
    #expect(window.take(sample, [], underWay: 64, size: 4096, arrived: 0, isFull: true) == nil && window.width == 64)
  }

  @Test("A store that has just asked for less is not sent many small objects at once")
  func smallAfterNarrow() {
    var settings = RunSettings()
    settings.pace = Pace.Bounds(start: 8, most: 48)
    settings.mostSmall = 256
    var window = Window(settings, partSize: 8 << 20)
    window.narrow(at: .seconds(1))
    #expect(window.width == 4)
    window.carries(small: true)
    var sample = LineSample(at: .seconds(2), delivered: 0)
    (sample.roundTrip, sample.leastTrip) = (.milliseconds(50), .milliseconds(50))
    #expect(window.take(sample, [], underWay: 4, size: 4096, arrived: 0, isFull: true) == nil && window.width == 4)
  }

  @Test("With the loops' cores full it does not grow")
  func busy() {
    var model = Model(wait: .milliseconds(1), most: 100_000)
    model.run(.seconds(5), load: 0.9)
    #expect(model.pace.window == 8)
  }

  @Test("After a SlowDown the window stays where it was set for a while")
  func throttled() {
    var model = Model(wait: .milliseconds(50), most: 100_000)
    model.run(.seconds(2))
    model.pace.throttled(to: 64, at: model.now)
    model.run(.seconds(9))
    #expect(model.pace.window == 64)
    model.run(.seconds(30))
    #expect(model.pace.window == 256)
  }
}
