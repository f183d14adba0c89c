import Foundation
import Testing

@testable import Support

@Suite(.timeLimit(.minutes(15))) struct FakeChecksumTests {
  @Test(
    "CRCs of the digits 1 to 9 are the published check values",
    arguments: [
      (FakeChecksum.crc32, "cbf43926"), (.crc32c, "e3069283"), (.crc64nvme, "ae8b14860a799888"),
    ])
  func check(_ algorithm: FakeChecksum, _ expected: String) {
    #expect(hex(algorithm.of("123456789".utf8)) == expected)
  }

  @Test(
    "zeros that are skipped count as zeros that are read",
    arguments: [FakeCRC.crc32, FakeCRC.crc32c, FakeCRC.crc64nvme])
  func zeros(_ crc: FakeCRC) {
    var walked = crc.ones
    let zero: [UInt8] = [0]
    for _ in 0..<1000 { zero.withUnsafeBytes { walked = crc.update(walked, $0) } }
    // A run may also be one zero byte at a time; the bitwise form is the reference.
    let polynomial: UInt64 =
      crc === FakeCRC.crc32 ? 0xEDB8_8320 : crc === FakeCRC.crc32c ? 0x82F6_3B78 : 0x9A6C_9329_AC4B_C9B5
    var bitwise = crc.ones
    for _ in 0..<8000 { bitwise = (bitwise >> 1) ^ (bitwise & 1 == 1 ? polynomial : 0) }
    #expect(walked == bitwise)
    #expect(crc.advance(crc.ones, zeros: 1000) == bitwise)
  }

  @Test("a CRC does not depend on how the body was cut", arguments: [FakeChecksum.crc32, .crc32c, .crc64nvme])
  func pieces(_ algorithm: FakeChecksum) throws {
    let bytes = randomBytes(200_003, seed: 7) + [UInt8](repeating: 0, count: 150_001) + randomBytes(9, seed: 8)
    let whole = algorithm.of(bytes)
    let running = RunningChecksum(algorithm)
    for start in stride(from: 0, to: bytes.count, by: 997) {
      bytes[start..<min(start + 997, bytes.count)].withUnsafeBytes { running.update($0) }
    }
    #expect(running.finish() == whole)
    let cut = 123_457
    let parts = [bytes[..<cut], bytes[cut...]].map { (checksum: algorithm.of($0), length: $0.count) }
    #expect(algorithm.whole(parts, .fullObject) == base64(whole))
  }

  @Test("random bytes depend on the seed alone")
  func random() {
    #expect(randomBytes(1001, seed: 1) == randomBytes(1001, seed: 1))
    #expect(randomBytes(1001, seed: 1) != randomBytes(1001, seed: 2))
    #expect(Array(randomBytes(1001, seed: 1).prefix(64)) == randomBytes(64, seed: 1))
  }

  @Test("XML is read with entities, and broken XML is not")
  func xml() {
    let read = { (text: String) in XMLReader.read(Array(text.utf8)) }
    let root = read("<?xml version='1.0'?>\n<a xmlns='x'> <n:b>1 &lt;&#34;&#x41;&amp;</n:b>\n<c/></a>\n")
    #expect(root?["b"] == "1 <\"A&")
    #expect(root?.children.count == 2)
    for broken in ["", "<a>", "<a></b>", "<a>&nix;</a>", "<a></a><b></b>", "a", "<a><b></a></b>", "<a>x<b></b></a>"] {
      #expect(read(broken) == nil, "\(broken)")
    }
  }
}
