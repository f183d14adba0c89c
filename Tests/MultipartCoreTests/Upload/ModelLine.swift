@testable import MultipartCore

/// A line with a bottleneck, a queue before it and random losses, on which connections behave like those of Linux with
/// CUBIC: they double their window until the first loss, then grow by the cubic function, and shrink to 0.7 at a loss.
struct ModelLine {
  var roundTrip: Duration
  /// The rate in bytes a second.
  var rate: Double
  /// The probability that a packet is lost.
  var loss = 0.0
  /// The seconds of traffic that the queue before the bottleneck can hold.
  var buffer = 0.05
  private var queue = 0.0
  private var dice: SimDice

  struct Wire {
    /// The window in segments.
    fileprivate var window = 10.0
    fileprivate var threshold = Double.infinity
    fileprivate var highest = 0.0
    fileprivate var sinceLoss = 0.0
    var sent = 0.0
    var again = 0.0
  }

  private static let segment = 1448.0
  /// The largest window, of a socket buffer of 4 MiB.
  private static let widest = 1800.0

  init(roundTrip: Duration, rate: Double, loss: Double = 0, buffer: Double = 0.05, seed: UInt64 = 1) {
    (self.roundTrip, self.rate, self.loss, self.buffer) = (roundTrip, rate, loss, buffer)
    dice = SimDice(seed: seed)
  }

  /// The smoothed round trip.
  var currentTrip: Duration { roundTrip + .seconds(queue / rate) }

  /// Advances the line; returns what each connection has delivered in this time.
  mutating func carry(_ wires: inout [Wire], for step: Duration) -> [Double] {
    let seconds = step / .seconds(1)
    let trip = max(0.0002, currentTrip / .seconds(1))
    let wanted = wires.map { $0.window * Self.segment / trip * seconds }
    let sum = wanted.reduce(0, +)
    queue = max(0, queue + sum - rate * seconds)
    let overflow = max(0, queue - rate * buffer)
    queue -= overflow
    let dropped = sum > 0 ? overflow / sum : 0
    let share = sum > 0 ? min(1, rate * seconds / sum) : 0
    for index in wires.indices {
      let packets = wanted[index] / Self.segment
      let lost = 1 - (1 - loss) * (1 - dropped)
      wires[index].sent += packets
      wires[index].again += packets * lost
      let chance = 1 - power(1 - lost, packets)
      wires[index].react(lossSeen: dice.chance(chance), seconds, trip)
      wires[index].window = min(wires[index].window, Self.widest)
    }
    return wanted.map { $0 * share * (1 - loss) }
  }

  private func power(_ base: Double, _ exponent: Double) -> Double {
    var (result, whole) = (1.0, Int(exponent))
    var square = base
    while whole > 0 {
      if whole & 1 == 1 { result *= square }
      square *= square
      whole >>= 1
    }
    return result * (1 - (exponent - exponent.rounded(.down)) * (1 - base))
  }
}

extension ModelLine.Wire {
  fileprivate mutating func react(lossSeen: Bool, _ seconds: Double, _ trip: Double) {
    sinceLoss += seconds
    if lossSeen, sinceLoss > trip {
      highest = window
      window = max(2, window * 0.7)
      threshold = window
      sinceLoss = 0
    } else if window < threshold {
      var rest = seconds / trip
      while rest > 0 {
        window *= rest >= 1 ? 2 : 1 + rest
        rest -= 1
      }
    } else {
      // The cubic function, and at least as fast as Reno (RFC 9438).
      let ascent = cubeRoot(highest * 0.75)
      let at = sinceLoss - ascent
      let cubic = 0.4 * at * at * at + highest
      let reno = highest * 0.7 + 0.53 * sinceLoss / trip
      window = max(window, min(max(cubic, reno), window * (1 + seconds / trip / 2)))
    }
  }

  private func cubeRoot(_ value: Double) -> Double {
    var root = max(value, 1) / 3 + 1
    for _ in 0..<40 { root = (2 * root + value / (root * root)) / 3 }
    return root
  }
}
