import MultipartBasics
import Testing

@testable import MultipartCore

@Suite("HMAC and the folding of headers", .timeLimit(.minutes(15)))
struct SigningDigestTests {
  /// RFC 4231's test cases 1 to 3, 6 and 7 (keys shorter and longer than a block), and keys of zero bytes, a block and
  /// a block plus one byte, made by Python's hmac.
  private static let vectors: [(key: [UInt8], message: [UInt8], hex: String)] = [
    (
      Array(repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      Array(repeating: 0xAA, count: 20), Array(repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      Array(repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      Array(repeating: 0xAA, count: 131),
      Array(
        ("This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
          + "hashed before being used by the HMAC algorithm.").utf8),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
    (Array(0..<0), Array(repeating: 7, count: 0), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    (Array(0..<0), Array(repeating: 7, count: 55), "45070ed23834c20fa975ee6f7a233dcce8d34f108fadf272e4e805dc94272035"),
    (Array(0..<0), Array(repeating: 7, count: 64), "cf93c4acfa61a813ce6dacf59fc474c08e9c0c063566d19f01c4d36dbc942799"),
    (Array(0..<64), Array(repeating: 7, count: 0), "3499f163f48604c0b15ac89e4e7c66f314fb3b203b8ac2f564828e62f6be9d9d"),
    (Array(0..<64), Array(repeating: 7, count: 55), "249d1c41ca6b4d3d11a91163ff58892319dea46c6cf96d2d67694d1b1384623d"),
    (Array(0..<64), Array(repeating: 7, count: 64), "bceec29bfc4252a9e6a15ee99add03b1169895cdcbb210b21efb076cd60a3f56"),
    (Array(0..<65), Array(repeating: 7, count: 0), "93ff3114f20ef700222fc1c0334737a51a88740dc0dd2ce0ab3151f0a4a0e85a"),
    (Array(0..<65), Array(repeating: 7, count: 55), "c3a837449d01a3a9c7c8d6c984e9a1636e2b11ca23265aca4e93be665a658ff1"),
    (Array(0..<65), Array(repeating: 7, count: 64), "b120bbe380239ee7212a283e7e59ad0f393d866bcd6588810bb56e186f3c60f0"),
  ]

  @Test("HMAC follows RFC 2104, whatever the length of key and message", arguments: vectors.indices)
  func hmac(index: Int) throws {
    let vector = Self.vectors[index]
    #expect(Hex.encode(try SigningDigest.hmac(key: vector.key, vector.message)) == vector.hex)
  }

  @Test(
    "a value has no white space at its ends, and a single space for each run inside",
    arguments: [
      ("", ""), (" ", ""), ("a", "a"), (" a", "a"), ("a ", "a"), ("a b", "a b"), ("a  b", "a b"), ("a\tb", "a b"),
      ("a \u{0B}\u{0C} b\t", "a b"), ("\ta", "a"), ("é  ü", "é ü"), ("a\u{A0} b", "a\u{A0} b"),
    ])
  func folded(value: String, folded: String) {
    #expect(Array(SigV4.folded(value).utf8) == Array(folded.utf8))
  }

  @Test("headers are signed sorted by name, values of one name in the order they are sent, each name once")
  func canonicalHeaders() {
    let (text, signed) = SigV4.canonicalHeaders(
      ["x-b": "2", "X-A": " 1  1", "x-a-c": "3", "X-B": "1", "x-b": "3"], host: "h")
    #expect(text == "host:h\nx-a:1 1\nx-a-c:3\nx-b:2,1,3\n")
    #expect(signed == "host;x-a;x-a-c;x-b")
    #expect(SigV4.canonicalHeaders([:], host: "h") == ("host:h\n", "host"))
  }
}
