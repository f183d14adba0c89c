import Support
import Testing

@testable import MultipartCore

/// What a range's answer may bring, before any of it is written.
@Suite struct RangeSinkTests {
  private let taken = Locked<[UInt8]>([])

  private func sink(of length: Int64, step: Int = 64) throws -> RangeSink {
    let wanted = RangeSink.Wanted(number: 2, first: 1000, length: length, size: 5000)
    return try RangeSink(
      wanted, [.crc64nvme], step: step, moved: { _ in },
      take: { [taken] piece, at in
        taken.withLock { taken in
          #expect(Int64(taken.count) == at)
          taken += piece
        }
        return nil
      })
  }

  @Test(
    "Bytes behind the range are refused, and none of them is written where the next range lies", arguments: [1, 63, 64])
  func tooMany(_ more: Int) throws {
    let sink = try sink(of: 640)
    let bytes = randomBytes(640 + more, seed: 9)
    #expect(bytes[..<600].withUnsafeBytes { sink.receive($0) })
    #expect(!bytes[600...].withUnsafeBytes { sink.receive($0) })
    #expect(sink.failure?.code == .server)
    #expect(taken.withLock { $0 } == Array(bytes[..<600]))
  }

  @Test("Too few bytes are a line that was cut; all of them have their checksum, and are written in order")
  func tooFew() throws {
    let sink = try sink(of: 640)
    let bytes = randomBytes(640, seed: 10)
    #expect(bytes[..<639].withUnsafeBytes { sink.receive($0) })
    #expect { try sink.finish() } throws: { ($0 as? Failure)?.code == .network }
    #expect(bytes[639...].withUnsafeBytes { sink.receive($0) })
    let sums = try sink.finish()
    var whole = try MultiChecksum([.crc64nvme])
    bytes.withUnsafeBytes { whole.update($0) }
    #expect(try sums == whole.finish())
    #expect(taken.withLock { $0 } == bytes)
  }

  @Test("Whoever has won a range, or begun before all were loaded anew, is the only one that writes it, or none")
  func claims() {
    let claims = RangeClaims()
    let (first, second) = (claims.enter(), claims.enter())
    #expect(claims.write(1, by: first, { nil }) != nil)
    #expect(claims.write(1, by: second, wins: true, { nil }) != nil)
    #expect(claims.write(1, by: first, { nil }) == nil)
    #expect(claims.write(1, by: second, { nil }) != nil)
    claims.forgetAll()
    #expect(claims.write(1, by: second, { nil }) == nil)
    #expect(claims.write(1, by: claims.enter(), { nil }) != nil)
  }
}
