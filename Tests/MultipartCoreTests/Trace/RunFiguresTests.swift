import MultipartBasics
import Testing

@testable import MultipartCore

/// The figures of a run need the same memory however long it is.
@Suite struct RunFiguresTests {
  @Test("Rates keep every byte while their steps double")
  func rates() {
    var rates = TraceRates()
    for second in 0..<36_000 { rates.add(10, at: .seconds(second)) }
    #expect(rates.bytes.count <= TraceRates.most && rates.bytes.count > TraceRates.most / 2)
    #expect(rates.bytes.reduce(0, +) == 360_000)
    #expect(rates.step == .milliseconds(102_400))
    #expect(abs(rates.last(at: .seconds(36_000)) - 10) < 0.3)
  }

  @Test("A picture of a hundred thousand slices has a few thousand pieces, none is lost, and failures stay to be seen")
  func picture() {
    var figures = RunFigures()
    for number in 0..<100_000 {
      let from = Duration.milliseconds(number / 16 * 10)
      let kind: TraceSlice.Kind = number % 20_000 == 19_999 ? .failed : .part
      figures.take(
        TraceSlice(
          TraceTrack(.connections, number % 16 + 1), kind, "part \(number)", from: from, to: from + .milliseconds(9),
          [("bytes", .int(5))]))
    }
    let pieces = figures.picture.tracks.values.flatMap { $0 }
    #expect(pieces.count <= TracePicture.most && figures.picture.tracks.count == 16)
    #expect(pieces.reduce(0) { $0 + $1.count } == 100_000 && pieces.reduce(0) { $0 + $1.bytes } == 500_000)
    #expect(pieces.count { $0.kind == .failed } == 5)
    #expect(figures.picture.grain > .zero)
    for (_, pieces) in figures.picture.tracks {
      let sorted = pieces.sorted { $0.from < $1.from }
      #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.to <= $1.from })
    }
    // Exact, whatever the picture shows.
    #expect(figures.times[.failed] == .milliseconds(45) && figures.times[.part] == .milliseconds(9 * 99_995))
  }

  @Test("Pieces of different kinds that alternate become one too, so that nothing grows without bound")
  func alternating() {
    var picture = TracePicture()
    for number in 0..<50_000 {
      let from = Duration.milliseconds(number)
      picture.take(
        TraceSlice(
          TraceTrack(.waits, 1), number.isMultiple(of: 2) ? .retry : .wait, "w", from: from, to: from + .milliseconds(1)
        ))
    }
    #expect((picture.tracks[TraceTrack(.waits, 1)]?.count ?? .max) <= TracePicture.most)
  }
}
