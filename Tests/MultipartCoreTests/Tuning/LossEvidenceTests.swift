import MultipartBasics
import Testing

@testable import MultipartCore

@Suite struct LossEvidenceTests {
  /// The verdicts on a line of 200 ms that is sampled ten times a second; `lost` gives the number of a sample's packets
  /// that are lost.
  private static func verdicts(
    _ seconds: Int, packetsASecond: Int, lost: (_ look: Int, _ packets: Int) -> Int
  ) -> [LossEvidence.Verdict] {
    var evidence = LossEvidence()
    var sample = LineSample(at: .zero, delivered: 0)
    (sample.roundTrip, sample.leastTrip) = (.milliseconds(210), .milliseconds(200))
    return (0..<seconds * 10).compactMap { look in
      let packets = packetsASecond * (look + 1) / 10 - packetsASecond * look / 10
      sample.at += .milliseconds(100)
      sample.segments += Int64(packets)
      sample.lost += Int64(lost(look, packets))
      return evidence.take(sample)
    }
  }

  @Test(
    "A single connection that loses 2 % is recognised as lossy, although most round trips lose nothing",
    arguments: 1...20)
  func slow(seed: UInt64) {
    var dice = SimDice(seed: seed)
    let found = Self.verdicts(30, packetsASecond: 45) { _, packets in
      (0..<packets).count { _ in dice.below(50) == 0 }
    }
    let random = found.contains { if case .random(let share) = $0 { share > 0.005 && share < 0.05 } else { false } }
    #expect(random, "\(found)")
  }

  @Test("Losses that come together are those of a queue, however rare they are")
  func bursts() {
    let found = Self.verdicts(120, packetsASecond: 45) { look, _ in look % 60 == 59 ? 4 : 0 }
    #expect(!found.isEmpty && found.allSatisfy { $0 == .few }, "\(found)")
  }

  @Test("Rates count acknowledged bytes: half of the packets sent may be lost and not sent again yet")
  func rates() {
    var evidence = LossEvidence()
    var sample = LineSample(at: .zero, delivered: 0)
    (sample.roundTrip, sample.leastTrip) = (.milliseconds(20), .milliseconds(20))
    for look in 0..<60 {
      sample.at += .milliseconds(100)
      sample.segments += 1000
      sample.delivered += look < 50 ? 500_000 : 200_000
      _ = evidence.take(sample)
    }
    #expect(abs(evidence.leastRate - 2_000_000) < 1)
    #expect(evidence.isLong && evidence.rate > 2_000_000 && evidence.rate < 5_000_000)
  }
}
