import Testing

@testable import MultipartCore

/// The number of connections for small objects, against a model: each connection waits for its answer, and the machine or
/// the store can do only so many objects a second.
@Suite struct ObjectPaceTests {
  struct Model {
    /// Of one object, on one connection.
    var wait: Duration
    /// Objects a second, whatever the connections.
    var most: Double
    var pace = ObjectPace(start: 8, most: 256)
    var now = Duration.zero
    var arrived = 0.0
    var widest = 0

    init(wait: Duration, most: Double) {
      (self.wait, self.most) = (wait, most)
    }

    mutating func run(_ time: Duration, load: Double = 0) {
      let end = now + time
      while now < end {
        now += .milliseconds(100)
        arrived += min(Double(pace.window) / wait.seconds, most) * 0.1
        var sample = LineSample(at: now, delivered: Int64(arrived) * 4096)
        sample.roundTrip = wait
        sample.load = load
        _ = pace.take(sample, arrived: Int(arrived), isFull: true)
        widest = max(widest, pace.window)
      }
    }
  }

  @Test("Over a long line it grows to 256 within two seconds, and stays")
  func longLine() {
    var model = Model(wait: .milliseconds(50), most: 100_000)
    model.run(.seconds(2))
    #expect(model.pace.window == 256)
    model.run(.seconds(60))
    #expect(model.pace.window == 256)
  }

  @Test("The length of the line is enough for that: the first answers come later", arguments: [20, 50, 200])
  func beforeAnswers(_ trip: Int) {
    var pace = ObjectPace(start: 8, most: 256)
    var sample = LineSample(at: .milliseconds(trip + 10), delivered: 0)
    sample.roundTrip = .milliseconds(trip)
    #expect(pace.take(sample, arrived: 0, isFull: false) == nil)
    #expect(pace.take(sample, arrived: 0, isFull: true)?.connections == min(256, 8 * trip * 4 / 5))
    #expect(pace.take(sample, arrived: 0, isFull: true) == nil)
  }

  @Test("Where eight are enough it goes back to eight, and tries again ever more seldom")
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

  @Test("It stops where the store's rate ends")
  func slowStore() {
    var model = Model(wait: .milliseconds(20), most: 1000)
    model.run(.seconds(5))
    // 20 are enough for 1,000 a second.
    #expect((20...128).contains(model.pace.window))
  }

  @Test("With the loops' cores full it does not grow")
  func busy() {
    var model = Model(wait: .milliseconds(1), most: 100_000)
    model.run(.seconds(5), load: 0.9)
    #expect(model.pace.window == 8)
  }

  @Test("After a SlowDown it stays where it was put for a while")
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
