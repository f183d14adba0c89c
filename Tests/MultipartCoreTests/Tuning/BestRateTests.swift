import MultipartBasics
import Testing

@testable import MultipartCore

@Suite struct BestRateTests {
  /// The best rate that ten samples a second show after these seconds, each with a number of bytes.
  private func rate(_ seconds: [Int64]) -> Double {
    var best = BestRate()
    var sample = LineSample(at: .seconds(100), delivered: 5)
    best.take(sample)
    for bytes in seconds {
      for _ in 0..<10 {
        sample.at += .milliseconds(100)
        sample.delivered += bytes / 10
        best.take(sample)
      }
    }
    return best.rate
  }

  @Test("The best three seconds count, not those in which connections begin or end")
  func best() {
    #expect(rate([0, 0, 100, 1000, 1000, 1000, 200, 10, 10]) == 1000)
    #expect(rate([500, 500, 500, 500]) == 500)
  }

  @Test("A burst of a second is not the line's rate, and less than three seconds decide nothing")
  func bursts() {
    #expect(rate([3000, 0, 0, 0, 600, 600, 600]) == 1000)
    #expect(rate([1000, 1000]) == 0)
    #expect(rate([]) == 0)
  }

  @Test("Between rare samples the time that has passed counts")
  func rare() {
    var best = BestRate()
    for second in [0, 10, 20] { best.take(LineSample(at: .seconds(second), delivered: Int64(second) * 70)) }
    best.take(LineSample(at: .seconds(20), delivered: 1 << 40))
    #expect(best.rate == 70, "a sample of the same moment is none")
  }
}
