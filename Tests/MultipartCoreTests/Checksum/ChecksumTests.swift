import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct ChecksumTests {
  @Test("S3's names of the algorithms, their headers and elements")
  func names() {
    let names = ChecksumAlgorithm.allCases.map {
      [$0.awsName ?? "", $0.headerName, ChecksumHeaders.element(for: $0.headerName) ?? ""]
    }
    #expect(
      names == [
        ["CRC64NVME", "x-amz-checksum-crc64nvme", "ChecksumCRC64NVME"],
        ["CRC32C", "x-amz-checksum-crc32c", "ChecksumCRC32C"],
        ["CRC32", "x-amz-checksum-crc32", "ChecksumCRC32"],
        ["SHA256", "x-amz-checksum-sha256", "ChecksumSHA256"],
        ["SHA1", "x-amz-checksum-sha1", "ChecksumSHA1"],
        ["", "content-md5", ""],
      ])
    for algorithm in ChecksumAlgorithm.allCases where algorithm != .md5 {
      #expect(algorithm.awsName.flatMap { ChecksumAlgorithm(awsName: $0) } == algorithm)
    }
    #expect(ChecksumAlgorithm(awsName: "crc32c") == .crc32c)
    for unknown in ["", "MD5", "CRC64", "CRC32 "] { #expect(ChecksumAlgorithm(awsName: unknown) == nil) }
  }

  @Test("for parts CRC64NVME has a full-object checksum, MD5 none, and the others a composite one")
  func forms() {
    #expect(ChecksumAlgorithm.allCases.filter { $0.typeInParts == .fullObject } == [.crc64nvme])
    #expect(ChecksumAlgorithm.allCases.filter { $0.typeInParts == .composite } == [.crc32c, .crc32, .sha256, .sha1])
    #expect(ChecksumType(awsName: "full_object") == .fullObject)
    #expect(ChecksumType(awsName: "NEW") == nil)
  }

  @Test("a checksum is only read from base64 of its length")
  func reading() throws {
    let sum = try #require(Checksum(.crc64nvme, base64: "rosUhgp5mIg="))
    #expect(sum.hex == "ae8b14860a799888")
    #expect(sum.base64 == "rosUhgp5mIg=")
    #expect(Checksum(.crc32, base64: "y/Q5Jg==")?.hex == "cbf43926")
    for wrong in ["", "rosUhgp5mIg", "rosUhgp5mIg= ", "y/Q5Jg==", "rosUhgp5mIh=", "rosUhgp5mIgA"] {
      #expect(Checksum(.crc64nvme, base64: wrong) == nil, "\(wrong)")
    }
    #expect(Checksum(.md5, bytes: [1, 2, 3]) == nil)
  }
}

@Suite(.timeLimit(.minutes(15))) struct CompositeTests {
  static let parts = ["first part", "second part", ""]

  static func sums(_ algorithm: ChecksumAlgorithm) throws -> [Checksum] {
    try parts.map {
      var running = try RunningChecksum(algorithm)
      running.update($0.utf8)
      return try running.finish()
    }
  }

  /// Computed with Python's hashlib and zlib, and a bitwise CRC32C.
  @Test(
    "the composite form is the checksum of the parts' checksums, and their number",
    arguments: [
      (ChecksumAlgorithm.crc32c, "TpwwUw==-3"), (.crc32, "etHdQg==-3"),
      (.sha256, "d3QJdm47lGbsGOMlT2TDeQPCZplcZbXYkzP5DAbnbu8=-3"), (.sha1, "vvewGKBwHMDQGGZCkIvdziXVm9k=-3"),
    ])
  func composite(_ algorithm: ChecksumAlgorithm, _ text: String) throws {
    let composite = try CompositeChecksum(of: Self.sums(algorithm))
    #expect(composite.text == text)
    #expect(CompositeChecksum(algorithm, text: text) == composite)
  }

  @Test("there is no composite of no parts, of mixed checksums, or if S3 has none")
  func refused() throws {
    let mixed = [try Self.sums(.crc32)[0], try Self.sums(.crc32c)[0]]
    for sums in [[], mixed, try Self.sums(.crc64nvme), try Self.sums(.md5)] {
      #expect(throws: Failure.self) { try CompositeChecksum(of: sums) }
    }
  }

  @Test(
    "text that is not a composite checksum is refused",
    arguments: [
      "", "-3", "TpwwUw==", "TpwwUw==-", "TpwwUw==-0", "TpwwUw==-03", "TpwwUw==-3 ", "TpwwUw-3", "TpwwUw==--3",
      "TpwwUw==-99999999999999999999", "TpwwUw==-+3", "TpwwUw==-٣",
    ])
  func reading(_ text: String) {
    #expect(CompositeChecksum(.crc32c, text: text) == nil)
  }

  @Test("the ETag of an object in parts is computed as by S3")
  func multipartETag() throws {
    let md5s = try Self.parts.map { try Digest.md5($0.utf8) }
    #expect(try MultipartETag.of(md5s: md5s) == "74412d97df444553facf0a8adf5f561c-3")
  }
}

@Suite(.timeLimit(.minutes(15))) struct ETagTests {
  private static let md5 = "550cf6b6e60f65a0e3104a26e70fea42"

  @Test(
    "all the ways in which stores write an ETag are equal",
    arguments: [
      md5, "\"\(md5)\"", "W/\"\(md5)\"", "&#34;\(md5)&#34;", "&quot;\(md5)&quot;", " \"\(md5)\" ", "\"\(md5)",
      "\(md5)\"", md5.uppercased(), "\"\(md5.uppercased())\"",
    ])
  func spellings(_ text: String) throws {
    let tag = try #require(ETag(text))
    #expect(tag.value == Self.md5)
    #expect(tag.quoted == "\"\(Self.md5)\"")
    #expect(tag == ETag(Self.md5))
    #expect(tag.form == .md5(try Digest.md5("first part".utf8)))
  }

  @Test("an ETag of parts is recognised by its number, in upper and lower case")
  func multipart() throws {
    let tag = try #require(ETag("\"74412D97DF444553FACF0A8ADF5F561C-3\""))
    let md5 = try #require(Hex.decode("74412d97df444553facf0a8adf5f561c"))
    #expect(tag.form == .multipart(md5OfMD5s: md5, parts: 3))
    #expect(tag.value == "74412d97df444553facf0a8adf5f561c-3")
  }

  @Test(
    "any other ETag is opaque, and keeps its case",
    arguments: ["ABC", md5 + "0", md5 + "-", md5 + "-0", md5 + "-x", "g" + md5.dropFirst(), md5 + "-3-4", "-3", "W"])
  func opaque(_ text: String) throws {
    let tag = try #require(ETag(text))
    #expect(tag.form == .opaque)
    #expect(tag.value == text)
  }

  @Test("an empty ETag does not count as one", arguments: ["", "\"\"", "  ", "W/\"\"", "&#34;&#34;", "\""])
  func empty(_ text: String) {
    #expect(ETag(text) == nil)
  }

  @Test("ETags that only look the same to a reader differ")
  func canonicalEquivalence() throws {
    let (composed, decomposed) = (try #require(ETag("\u{E9}")), try #require(ETag("e\u{301}")))
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }
}
