import MultipartBasics
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct LossyPaceTests {
  private static let lossy = Pace.Bounds(start: 8, most: 48, mostWhenLossy: 64)

  @Test("Where random losses limit each connection, as many as allowed are used, however slow each is")
  func lossy() {
    var line = PlayedLine(Self.lossy) { Double($0) * 0.4 * PlayedLine.mega }
    line.roundTrip = .milliseconds(50)
    line.losses = { _ in 0.005 }
    line.run(.seconds(10))
    #expect(line.pace.window == 64, "\(line.changes)")
    line.run(.seconds(100))
    #expect(line.pace.window == 64, "\(line.changes)")
    var narrow = PlayedLine(Pace.Bounds(start: 8, most: 8)) { Double($0) * 0.2 * PlayedLine.mega }
    narrow.losses = { _ in 0.005 }
    narrow.run(.seconds(60))
    #expect(narrow.pace.window == 8, "a cap is a cap")
    let bounds = Pace.Bounds(start: 8, most: 48, mostWhenLossy: 64, limit: 32 << 20)
    var limited = PlayedLine(bounds) { _ in 32 * PlayedLine.mega }
    limited.losses = { _ in 0.005 }
    limited.run(.seconds(60))
    #expect(limited.pace.window <= 8, "the limit holds the rate, not the losses")
    var busy = PlayedLine(Self.lossy) { Double($0) * PlayedLine.mega }
    (busy.losses, busy.load) = ({ _ in 0.005 }, 0.9)
    busy.run(.seconds(60))
    #expect(busy.pace.window == 8, "this machine's cores are full")
  }

  @Test("A lossy line that begins with a burst still shows that twice as many connections are faster")
  func burst() {
    var line = PlayedLine(Pace.Bounds(start: 32, most: 48, mostWhenLossy: 64)) { Double($0) * 2.4 * PlayedLine.mega }
    line.losses = { _ in 0.005 }
    while line.changes.isEmpty { line.run(.milliseconds(100)) }
    #expect(line.pace.window == 64 && line.now < .seconds(2))
    line.rate = { Double($0) * 0.95 * PlayedLine.mega }
    line.run(.seconds(60))
    #expect(line.changes.count == 1, "\(line.changes)")
  }

  @Test("On a slow line no more are tried once each has much less than losses allow, however the rate has grown")
  func slowAndLossy() {
    var line = PlayedLine(Pace.Bounds(start: 8, most: 48, mostWhenLossy: 64, opening: 8)) { connections in
      (0..<6).reduce(0.5) { rate, step in connections >= 2 << step ? rate * 1.36 : rate } * PlayedLine.mega
    }
    line.losses = { _ in 0.005 }
    (line.roundTrip, line.held) = (.milliseconds(50), 0.8)
    line.run(.seconds(120))
    let most = line.changes.map(\.connections).max() ?? 0
    #expect(most <= 7, "\(line.changes)")
  }

  @Test("Connections that reach the rate that losses allow are not closed for being slow: fewer would be as slow each")
  func heldByLosses() {
    func changes(_ roundTrip: Duration) -> [Pace.Change] {
      var line = PlayedLine(Pace.Bounds(start: 8, most: 8)) { Double($0) * 0.27 * PlayedLine.mega }
      line.losses = { _ in 0.005 }
      line.roundTrip = roundTrip
      line.run(.seconds(60))
      return line.changes
    }
    #expect(changes(.milliseconds(80)).isEmpty)
    #expect(!changes(.milliseconds(20)).isEmpty, "there they allow four times as much")
  }

  @Test("Where more connections only lose more packets, they are closed again, and rarely tried")
  func policed() {
    var line = PlayedLine(Self.lossy) { _ in 40 * PlayedLine.mega }
    line.losses = { 0.00001 * Double($0 * $0) }
    line.run(.seconds(120))
    #expect(line.pace.window <= 16, "\(line.changes)")
    #expect(line.changes.count { $0.connections > 16 } <= 5, "\(line.changes)")
  }

  @Test("A full queue on the way loses packets too, and fewer connections are enough for it")
  func crowded() {
    var line = PlayedLine(Self.lossy) { _ in 3 * PlayedLine.mega }
    line.losses = { _ in 0.005 }
    line.queue = .milliseconds(30)
    line.run(.seconds(60))
    #expect(line.pace.window <= 3, "\(line.changes)")
  }

  @Test("If a line that lost packets at random becomes slow and full, soon few parts are being sent")
  func lossyThenCrowded() {
    var line = PlayedLine(Self.lossy) { Double($0) * 0.5 * PlayedLine.mega }
    line.losses = { _ in 0.005 }
    line.run(.seconds(20))
    #expect(line.pace.window == 64)
    line.rate = { _ in 2 * PlayedLine.mega }
    line.queue = .milliseconds(30)
    line.run(.seconds(40))
    #expect(line.pace.window <= 3, "\(line.changes)")
  }

  @Test("A low limit after random losses leaves no more parts than it allows in ten seconds")
  func limitAfterLosses() {
    var line = PlayedLine(Pace.Bounds(start: 8, most: 48, mostWhenLossy: 64)) { Double($0) * PlayedLine.mega }
    line.losses = { _ in 0.005 }
    line.run(.seconds(60))
    #expect(line.pace.window == 64)
    line.limit = 2 << 20
    line.rate = { _ in 2 * PlayedLine.mega }
    line.run(.seconds(30))
    #expect(line.pace.window == 2)
    #expect(line.changes.contains { $0.stopsSome }, "64 parts would take four minutes: \(line.changes.suffix(3))")
  }

  @Test("A line that loses packets is no reason to send more to a store that has just asked for less")
  func throttledAndLossy() {
    var line = PlayedLine(Self.lossy) { Double($0) * PlayedLine.mega }
    line.losses = { _ in 0.005 }
    line.run(.milliseconds(100))
    line.pace.throttled(to: 4, at: line.now)
    line.run(.seconds(9))
    #expect(line.pace.window == 4)
    line.run(.seconds(30))
    #expect(line.pace.window >= 16)
  }
}
