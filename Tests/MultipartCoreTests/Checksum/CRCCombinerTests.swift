import MultipartBasics
@testable import MultipartCore
import Testing

private let crcs: [ChecksumAlgorithm] = [.crc64nvme, .crc32c, .crc32]

private func sum(_ algorithm: ChecksumAlgorithm, _ bytes: some Sequence<UInt8>) throws -> Checksum {
  var running = try RunningChecksum(algorithm)
  running.update(bytes)
  return try running.finish()
}

@Suite(.timeLimit(.minutes(15))) struct CRCCombinerTests {
  @Test("combined checksums equal the checksum of the whole, for any split, including empty pieces", arguments: crcs)
  func splits(_ algorithm: ChecksumAlgorithm) throws {
    var dice = Dice(4)
    let data = pattern(20_000)
    let whole = try sum(algorithm, data)
    for round in 0..<50 {
      var pieces: [(Checksum, Int64)] = []
      var at = 0
      while at < data.count {
        let most = round % 2 == 0 ? 9_000 : 700
        let count = Bool.random(using: &dice) ? min(Int.random(in: 0...most, using: &dice), data.count - at) : 0
        pieces.append((try sum(algorithm, data[at..<(at + count)]), Int64(count)))
        at += count
      }
      #expect(CRCCombiner.combine(algorithm, pieces) == whole)
    }
  }

  /// Computed with Python's integers, in the unreflected ring: ones * x^(8n) mod P, reflected and inverted.
  @Test(
    "10,000 parts of 5 GiB of zeros combine to the checksum of 48.8 TiB",
    arguments: [
      (ChecksumAlgorithm.crc32, "193838c3", "da3d0373"), (.crc32c, "2cc5f6d6", "caa4a54c"),
      (.crc64nvme, "ce36fe0285569d20", "364d33727691100b"),
    ])
  func largest(_ algorithm: ChecksumAlgorithm, _ part: String, _ whole: String) throws {
    let length: Int64 = 5 << 30
    let one = try #require(Hex.decode(part).flatMap { Checksum(algorithm, bytes: $0) })
    let pieces = repeatElement((one, length), count: 10_000)
    #expect(CRCCombiner.combine(algorithm, pieces)?.hex == whole)
    var combiner = try #require(CRCCombiner(algorithm))
    let most = try #require(CRCCombiner.combine(algorithm, pieces.dropLast()))
    #expect(combiner.combine(one, most, lengthOfB: length * 9_999)?.hex == whole)
  }

  @Test("no pieces combine to the checksum of no bytes", arguments: crcs)
  func nothing(_ algorithm: ChecksumAlgorithm) throws {
    #expect(try CRCCombiner.combine(algorithm, []) == sum(algorithm, []))
  }

  @Test("checksums that do not fit together are refused")
  func refused() throws {
    for algorithm in [ChecksumAlgorithm.sha256, .sha1, .md5] { #expect(CRCCombiner(algorithm) == nil) }
    let (one, other) = (try sum(.crc32, [1]), try sum(.crc32c, [2]))
    let mixed: [(Checksum, Int64)] = [(one, 1), (other, 1)]
    let negative: [(Checksum, Int64)] = [(one, -1)]
    #expect(CRCCombiner.combine(.crc32, mixed) == nil)
    #expect(CRCCombiner.combine(.crc32, negative) == nil)
  }
}
