@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct VerdictTests {
  private static let whole = "AAECAwQFBgc="
  private static let other = "BwYFBAMCAQA="

  private static func sum(_ text: String = whole) throws -> Checksum {
    try #require(Checksum(.crc64nvme, base64: text))
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var reported: ReportedObject
    var kind: Kind

    init(_ name: String, _ reported: ReportedObject, _ kind: Kind) {
      testDescription = name
      self.reported = reported
      self.kind = kind
    }
  }

  enum Kind: Sendable, Equatable {
    case proven(String), undecided, notOurs, contradicted(String)

    func fits(_ judgement: Judgement) -> Bool {
      switch (self, judgement) {
      case (.proven(let text), .proven(let evidence)): evidence.contains(text)
      case (.undecided, .undecided), (.notOurs, .notOurs): true
      case (.contradicted(let text), .contradicted(let message)): message.contains(text)
      default: false
      }
    }
  }

  private static let nvme = "x-amz-checksum-crc64nvme"
  private static let fullObject: [Case] = [
    Case("equal", ReportedObject(checksums: [nvme: whole]), .proven("CRC64NVME matches the store's")),
    Case(
      "equal, with type", ReportedObject(size: 10, checksums: [nvme: whole], checksumTypeText: "FULL_OBJECT"),
      .proven("CRC64NVME")),
    Case(
      "type in other letters", ReportedObject(checksums: [nvme: whole], checksumTypeText: "full_object"), .proven("")),
    Case("empty type", ReportedObject(checksums: [nvme: whole], checksumTypeText: ""), .proven("")),
    Case("other", ReportedObject(checksums: [nvme: other]), .contradicted(other)),
    Case("other, though the ETag fits", ReportedObject(etag: "\"x\"", checksums: [nvme: other]), .contradicted("")),
    Case("missing", ReportedObject(size: 10), .undecided),
    Case(
      "a composite says nothing", ReportedObject(checksums: [nvme: other], checksumTypeText: "COMPOSITE"), .undecided),
    Case("a composite by its form says nothing", ReportedObject(checksums: [nvme: other + "-3"]), .undecided),
    Case("the number of parts behind it", ReportedObject(checksums: [nvme: whole + "-3"]), .proven("")),
    Case(
      "the number of parts behind it, with type",
      ReportedObject(checksums: [nvme: whole + "-3"], checksumTypeText: "FULL_OBJECT"), .proven("")),
    Case(
      "other, the number of parts behind it, with type",
      ReportedObject(checksums: [nvme: other + "-3"], checksumTypeText: "FULL_OBJECT"), .contradicted(other)),
    Case("another algorithm says nothing", ReportedObject(checksums: ["x-amz-checksum-crc32": "AAAAAA=="]), .undecided),
    Case(
      "a type of its own says nothing", ReportedObject(checksums: [nvme: whole], checksumTypeText: "NEW"), .undecided),
    Case("size differs", ReportedObject(size: 11), .contradicted("11 bytes, the source 10")),
    Case(
      "size differs, though the checksum fits", ReportedObject(size: 0, checksums: [nvme: whole]),
      .contradicted("0 bytes")),
    Case("an empty value", ReportedObject(checksums: [nvme: ""]), .contradicted("")),
  ]

  @Test("A full-object CRC64NVME decides alone", arguments: fullObject)
  func full(example: Case) throws {
    let expected = Expectation(size: 10, checksum: try Self.sum(), md5: nil, proof: .none)
    let judgement = Verdict.judge(expected, example.reported)
    #expect(example.kind.fits(judgement), "\(judgement)")
  }

  private static let md5s = [
    "d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72", "f96b697d7cb7938d525a2f31aaf161d0",
  ]
  /// The `md5sum` of the three digests' bytes one after the other.
  private static let assembled = "47195a1b60673317ebf00774ec9e0bf3-3"

  private static func receipts(
    _ etags: [String] = md5s, algorithm: ChecksumAlgorithm? = nil, proof: PartProof = .etag
  ) throws -> [PartReceipt] {
    try etags.enumerated().map { index, etag in
      let sum = try algorithm.map { algorithm in
        try #require(
          Checksum(algorithm, bytes: Array(repeating: UInt8(index + 1), count: algorithm.digestLength)))
      }
      return PartReceipt(number: index + 1, size: 5, etag: "\"\(etag)\"", checksum: sum, proof: proof)
    }
  }

  private static let etags: [Case] = [
    Case("equal", ReportedObject(etag: "\"\(assembled)\""), .proven("each of whose ETags is the MD5 of its bytes")),
    Case("without quotes", ReportedObject(etag: assembled), .proven("")),
    Case("escaped", ReportedObject(etag: "&#34;\(assembled)&#34;"), .proven("")),
    Case("weak and in capitals", ReportedObject(etag: "W/\"\(assembled.uppercased())\""), .proven("")),
    Case("of other parts", ReportedObject(etag: "\"d41d8cd98f00b204e9800998ecf8427e-3\""), .undecided),
    Case("of another count", ReportedObject(etag: "\"\(assembled.dropLast())4\""), .notOurs),
    Case("of another count, by a header", ReportedObject(etag: "\"v1.abc\"", partsCount: 4), .notOurs),
    Case("of the same count, by a header", ReportedObject(etag: "\"v1.abc\"", partsCount: 3), .undecided),
    Case("the MD5 of the whole", ReportedObject(etag: "\"d41d8cd98f00b204e9800998ecf8427e\""), .undecided),
    Case("a name of the store's own", ReportedObject(etag: "\"v1.abc\""), .undecided),
    Case("empty", ReportedObject(etag: ""), .undecided), Case("only quotes", ReportedObject(etag: "\"\""), .undecided),
    Case("none", ReportedObject(), .undecided),
    Case("equal, but another size", ReportedObject(size: 14, etag: "\"\(assembled)\""), .contradicted("14 bytes")),
  ]

  @Test("An ETag of the parts' MD5s can prove, and never contradicts", arguments: etags)
  func etag(example: Case) throws {
    let expected = try Expectation(receipts: try Self.receipts())
    #expect(expected.etag?.value == Self.assembled)
    #expect(expected.size == 15)
    #expect(expected.parts == 3)
    let judgement = Verdict.judge(expected, example.reported)
    #expect(example.kind.fits(judgement), "\(judgement)")
  }

  @Test("If others may complete the upload with any bytes, S3's form of an ETag must be that of the parts")
  func open() throws {
    let other = "d41d8cd98f00b204e9800998ecf8427e"
    let table: [(String?, PartProof, Kind)] = [
      ("\"\(Self.assembled)\"", .etag, .proven("")), ("\"\(other)-3\"", .etag, .contradicted("another file")),
      // Where parts have no MD5s, the object's ETag is made of something else.
      ("\"\(other)-3\"", .contentMD5, .undecided), ("\"\(other)-3\"", .checksum, .undecided),
      ("\"\(other.uppercased())-3\"", .etag, .undecided), ("\"\(other)-4\"", .etag, .notOurs),
      ("\"\(other)\"", .etag, .undecided), ("\"v1.abc\"", .etag, .undecided), (nil, .etag, .undecided),
    ]
    for (etag, proof, kind) in table {
      let expected = try Expectation(receipts: try Self.receipts(proof: proof))
      let judgement = Verdict.judge(expected, ReportedObject(etag: etag), isOpen: true)
      #expect(kind.fits(judgement), "\(etag ?? "none") \(proof): \(judgement)")
    }
  }

  @Test("Composite SHA-256: an equal one proves, another contradicts, a full-object one decides nothing")
  func composite() throws {
    let expected = try Expectation(receipts: try Self.receipts(algorithm: .sha256, proof: .checksum))
    let sum = try #require(expected.sum)
    #expect(sum.type == .composite)
    #expect(sum.value.hasSuffix("-3"))
    let name = "x-amz-checksum-sha256"
    let wrong = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    let table: [(ReportedObject, Kind)] = [
      (ReportedObject(checksums: [name: sum.value]), .proven("SHA256 (composite)")),
      (ReportedObject(checksums: [name: sum.value], checksumTypeText: "COMPOSITE"), .proven("SHA256 (composite)")),
      (
        ReportedObject(checksums: [name: String(sum.value.dropLast(2))], checksumTypeText: "COMPOSITE"),
        .proven("SHA256 (composite)")
      ),
      (ReportedObject(checksums: [name: wrong], checksumTypeText: "COMPOSITE"), .contradicted(wrong)),
      (
        ReportedObject(
          etag: "\"\(String(repeating: "0", count: 32))-4\"", checksums: [name: String(sum.value.dropLast(2))],
          checksumTypeText: "COMPOSITE"), .contradicted("-4")
      ),
      (ReportedObject(checksums: [name: wrong + "-3"]), .contradicted(wrong)),
      (ReportedObject(checksums: [name: sum.value.dropLast() + "4"]), .contradicted("-4")),
      (ReportedObject(checksums: [name: wrong]), .undecided),
      (ReportedObject(checksums: [name: wrong], checksumTypeText: "FULL_OBJECT"), .undecided),
    ]
    for (reported, kind) in table {
      let judgement = Verdict.judge(expected, reported)
      #expect(kind.fits(judgement), "\(judgement)")
    }
  }

  @Test("CRC64NVMEs of parts are combined in order and by length; mixed or missing ones give no checksum")
  func partSums() throws {
    let receipts = try Self.receipts(algorithm: .crc64nvme, proof: .checksum)
    let sum = try #require(try Expectation(receipts: receipts).sum)
    #expect(sum.type == .fullObject)
    #expect(sum.value.utf8.count == 12)
    var swapped = receipts
    swapped.swapAt(0, 2)
    #expect(try Expectation(receipts: swapped).sum?.value != sum.value)
    var missing = receipts
    missing[1].checksum = nil
    #expect(try Expectation(receipts: missing).sum == nil)
    var mixed = receipts
    mixed[1].checksum = Checksum(.crc32, bytes: [1, 2, 3, 4])
    #expect(try Expectation(receipts: mixed).sum == nil)
    #expect(try Expectation(receipts: try Self.receipts()).sum == nil)
  }

  @Test("If one part's ETag is not an MD5, the object's ETag is unknown")
  func oddPartETag() throws {
    for odd in ["v1", "", "900150983cd24fb0d6963f7d28e17f72-1", "\"", String(repeating: "z", count: 32)] {
      let expected = try Expectation(receipts: try Self.receipts([Self.md5s[0], odd, Self.md5s[2]]))
      #expect(expected.etag == nil)
      #expect(
        Verdict.judge(expected, ReportedObject(etag: "\"\(Self.assembled)\""))
          == .undecided(weak: Self.texts[.etag, default: ""]))
    }
  }

  private static let texts: [PartProof: String] = [
    .checksum: "object size matches; the store returned the checksum of each part",
    .etag: "object size matches; the store's ETag of each part is the MD5",
    .signedPayload: "object size matches; a SHA-256 of each part was signed",
    .contentMD5: "object size matches; the store accepted a Content-MD5 of each part",
    .none: "object size matches; the store shows no checksum",
  ]

  @Test("An unproven object has the evidence of its weakest part")
  func weakTexts() throws {
    for (proof, text) in Self.texts {
      var receipts = try Self.receipts(proof: .checksum)
      receipts[1].proof = proof
      let expected = try Expectation(receipts: receipts)
      #expect(expected.weakest == proof)
      #expect(Verdict.judge(expected, ReportedObject()) == .undecided(weak: text))
      let single = Expectation(size: 1, checksum: nil, md5: nil, proof: proof)
      let singleText = text.replacing("each part", with: "the bytes")
      #expect(Verdict.judge(single, ReportedObject()) == .undecided(weak: singleText))
    }
  }

  @Test("A PutObject is proven by its MD5 as ETag, or by the checksum of the whole object")
  func singlePut() throws {
    let md5 = try #require(Checksum(.md5, bytes: [UInt8](repeating: 0xAB, count: 16)))
    let byMD5 = Expectation(size: 3, checksum: nil, md5: md5, proof: .none)
    #expect(Kind.proven("MD5 of the bytes").fits(Verdict.judge(byMD5, ReportedObject(etag: "\"\(md5.hex)\""))))
    #expect(Kind.undecided.fits(Verdict.judge(byMD5, ReportedObject(etag: "\"\(md5.hex)-1\""))))
    let sha = try #require(Checksum(.sha256, bytes: [UInt8](repeating: 7, count: 32)))
    let bySum = Expectation(size: 3, checksum: sha, md5: nil, proof: .none)
    let name = "x-amz-checksum-sha256"
    #expect(
      Kind.proven("SHA256 matches the store's").fits(
        Verdict.judge(bySum, ReportedObject(checksums: [name: sha.base64]))))
    #expect(Kind.contradicted("SHA256").fits(Verdict.judge(bySum, ReportedObject(checksums: [name: "AAAA"]))))
  }

  @Test("Without parts an empty object is expected, and nothing crashes")
  func noParts() throws {
    let expected = try Expectation(receipts: [])
    #expect(expected.size == 0)
    #expect(expected.sum == nil)
    #expect(Kind.contradicted("").fits(Verdict.judge(expected, ReportedObject(size: 1))))
  }
}
