import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct RunningChecksumTests {
  /// Each algorithm with its checksums of "123456789", of nothing, and of `pattern(300_000)`, computed with Python's
  /// zlib and hashlib and a bitwise CRC.
  static let published: [(ChecksumAlgorithm, String, String, String)] = [
    (.crc64nvme, "ae8b14860a799888", "0000000000000000", "c63d93ea26f57cfb"),
    (.crc32c, "e3069283", "00000000", "4af6b681"),
    (.crc32, "cbf43926", "00000000", "8ef1cb54"),
    (
      .sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "f4860f910aa402870743bbb69199d1ef834d6254fc324d97d214539d02373b74"
    ),
    (
      .sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
      "c767b034b9f804220080ff19447d57770a87e006"
    ),
    (
      .md5, "25f9e794323b453885f5181f1b624d0b", "d41d8cd98f00b204e9800998ecf8427e",
      "9b1784b36e2a8e813c88c9fd1c44e5f7"
    ),
  ]

  @Test("every algorithm gives its published values")
  func values() throws {
    #expect(Self.published.map(\.0) == ChecksumAlgorithm.allCases)
    for (algorithm, digits, nothing, long) in Self.published {
      for (bytes, hex) in [(Array("123456789".utf8), digits), ([], nothing), (pattern(300_000), long)] {
        var running = try RunningChecksum(algorithm)
        running.update(bytes)
        let sum = try running.finish()
        #expect(sum.hex == hex, "\(algorithm)")
        #expect(sum.algorithm == algorithm)
        #expect(sum.bytes.count == algorithm.digestLength)
      }
    }
  }

  @Test("the result does not depend on how the bytes are split")
  func pieces() throws {
    var dice = Dice(3)
    let data = pattern(300_000)
    var sums = try MultiChecksum(Set(ChecksumAlgorithm.allCases))
    var at = 0
    while at < data.count {
      let count = min(Int.random(in: 0...90_000, using: &dice), data.count - at)
      data[at..<(at + count)].withUnsafeBytes { sums.update($0) }
      at += count
    }
    let found = try sums.finish()
    #expect(found.count == ChecksumAlgorithm.allCases.count)
    for (algorithm, _, _, long) in Self.published { #expect(found[algorithm]?.hex == long) }
  }

  @Test(
    "a copy continues independently, and reading the checksum changes nothing", arguments: ChecksumAlgorithm.allCases)
  func copies(_ algorithm: ChecksumAlgorithm) throws {
    var one = try RunningChecksum(algorithm)
    one.update(Array("12345".utf8))
    var other = one
    other.update(Array("something else".utf8))
    _ = try one.finish()
    one.update(Array("6789".utf8))
    #expect(try one.finish().hex == Self.published.first { $0.0 == algorithm }?.1)
    #expect(try one.finish() == one.finish())
    #expect(try other.finish() != one.finish())
  }

  @Test("one-shot digests have the published values, even if the bytes are not contiguous")
  func oneShot() throws {
    #expect(Hex.encode(try Digest.sha256("123456789".utf8)) == Self.published[3].1)
    #expect(Hex.encode(try Digest.sha256([])) == Self.published[3].2)
    #expect(Hex.encode(try Digest.md5(Array("123456789".utf8))) == Self.published[5].1)
    #expect(Hex.encode(try Digest.md5([Array("1234".utf8), Array("56789".utf8)].joined())) == Self.published[5].1)
  }

  @Test(
    "several checksums in one pass equal those computed separately",
    arguments: [
      Set(ChecksumAlgorithm.allCases), [.crc64nvme], [.crc64nvme, .crc32c, .crc32], [.crc64nvme, .sha256, .md5], [],
    ])
  func together(_ algorithms: Set<ChecksumAlgorithm>) throws {
    let data = pattern(MultiChecksum.block * 8 + 70_001)
    var several = try MultiChecksum(algorithms)
    data.dropFirst().withUnsafeBytes { several.update($0) }
    let sums = try several.finish()
    #expect(Set(sums.keys) == algorithms)
    for algorithm in algorithms {
      var expected = try RunningChecksum(algorithm)
      expected.update(data.dropFirst())
      #expect(try sums[algorithm] == expected.finish())
    }
  }

  @Test("several checksums of no bytes have the values of no bytes")
  func togetherOfNothing() throws {
    var several = try MultiChecksum(Set(ChecksumAlgorithm.allCases))
    [UInt8]().withUnsafeBytes { several.update($0) }
    let sums = try several.finish()
    for (algorithm, _, nothing, _) in Self.published { #expect(sums[algorithm]?.hex == nothing) }
  }
}
