import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct SameCheckTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  static let head = HeadObject(ObjectAddress("bucket", "key"))

  /// A file, and a store that answers HEAD with these headers.
  private struct Case {
    let file: SourceFile
    let store: ScriptedStore
    let client: S3Client

    func check(
      _ listed: ListedObject? = nil, partSize: Int64? = nil, etagMayBeMD5: Bool = true, isStopped: Bool = false
    ) async throws -> Sameness {
      try await SameCheck(
        client: client, head: SameCheckTests.head, file: file, plan: UploadPlan(size: file.size, partSize: partSize),
        listed: listed, etagMayBeMD5: etagMayBeMD5,
        isStopped: { isStopped }
      ).run()
    }

    var heads: Int { store.requests.count }
  }

  private func make(_ bytes: [UInt8], _ headers: HeaderList = [:], status: Int = 200) throws -> Case {
    var headers = headers
    if headers["Content-Length"] == nil { headers.add("Content-Length", String(bytes.count)) }
    let answer = Response(status: status, headers: headers)
    let store = ScriptedStore { (request, _) throws(Failure) in
      guard request.method == .head else { throw Failure(.local, "not a HEAD") }
      return answer
    }
    return Case(
      file: try SourceFile(FilePath(try directory.write(bytes, to: "file"))), store: store,
      client: try store.client(TestWorld().world))
  }

  private func listed(_ bytes: [UInt8], _ etag: String?) -> ListedObject {
    ListedObject(key: "key", size: Int64(bytes.count), etag: etag)
  }

  private static func sum(_ algorithm: ChecksumAlgorithm, _ bytes: some Sequence<UInt8>) throws -> Checksum {
    var sum = try RunningChecksum(algorithm)
    sum.update(bytes)
    return try sum.finish()
  }

  private static func parts(_ algorithm: ChecksumAlgorithm, _ bytes: [UInt8], _ size: Int) throws -> [Checksum] {
    try stride(from: 0, to: bytes.count, by: size).map { try sum(algorithm, bytes[$0..<min($0 + size, bytes.count)]) }
  }

  private static func etag(_ bytes: [UInt8], _ size: Int) throws -> String {
    "\"" + (try MultipartETag.of(md5s: parts(.md5, bytes, size).map(\.bytes))) + "\""
  }

  private let small = Array("hello".utf8)
  private var large: [UInt8] { Self.large }
  private static let large = randomBytes(21 << 20, seed: 3)

  @Test("the MD5 that a program has recorded is preferred to times", arguments: [true, false])
  func notedBeforeTimes(_ isSame: Bool) async throws {
    let md5 = try Self.sum(.md5, isSame ? small : [1])
    for note in [("x-amz-meta-md5chksum", md5.base64), ("x-amz-meta-s3cmd-attrs", "md5:\(md5.hex)/mode:33188")] {
      var headers: HeaderList = ["ETag": "\"0123456789abcdef0123456789abcdef-2\""]
      headers.add(note.0, note.1)
      let probe = try make(small)
      headers.add("x-amz-meta-mtime", FileTime(probe.file.identity).text)
      let one = try make(small, headers)
      #expect(try await (one.check().same != nil) == isSame)
    }
  }

  @Test("the MD5 that a program has recorded decides if the ETag is of parts that nobody would guess")
  func notedBesideParts() async throws {
    for (bytes, isSame) in [(large, true), (small, false)] {
      let md5 = try Self.sum(.md5, bytes).base64
      let one = try make(large, ["ETag": try Self.etag(large, 8_000_000), "x-amz-meta-md5chksum": md5])
      #expect(try await (one.check().same != nil) == isSame)
    }
  }

  @Test("an ETag of parts is tried with every whole MiB that gives as many parts")
  func everyMebibyte() async throws {
    for size in [6, 7, 9, 11, 13, 17] {
      let one = try make(large, ["ETag": try Self.etag(large, size << 20)])
      #expect(try await one.check().same != nil, "\(size) MiB")
    }
  }

  @Test("another size is enough: nothing is read or requested")
  func size() async throws {
    let one = try make(small)
    try FileManager.default.removeItem(atPath: directory.path("file"))
    let answer = try await one.check(ListedObject(key: "key", size: 4, etag: "\"x\""))
    #expect(answer.why == "the object has 4 bytes, the file 5")
    #expect(one.heads == 0)
    let other = try make(small, ["Content-Length": "6"])
    #expect(try await other.check().why == "the object has 6 bytes, the file 5")
  }

  @Test("the MD5 of a listed ETag decides without a HEAD, in whichever form it is written")
  func listedMD5() async throws {
    let md5 = try Self.sum(.md5, small).hex
    for text in [md5, "\"\(md5)\"", "\"\(md5.uppercased())\"", "&#34;\(md5)&#34;"] {
      let one = try make(small)
      let same = try #require(try await one.check(listed(small, text)).same)
      #expect(same.evidence == "MD5 \(md5) in the object's ETag matches the file")
      #expect(same.parts == 1)
      #expect(same.object.size == 5)
      #expect(one.heads == 0)
    }
    let empty = try make([])
    #expect(try await empty.check(listed([], "\"d41d8cd98f00b204e9800998ecf8427e\"")).same != nil)
  }

  @Test(
    "an MD5 that is not the file's means that it differs, unless the object's encryption shows that it is not an MD5")
  func otherMD5() async throws {
    let etag = "\"" + (try Self.sum(.md5, [1])).hex + "\""
    let one = try make(small, ["ETag": etag])
    #expect(try await one.check(listed(small, etag)).why == "the object's ETag is not the file's MD5")
    #expect(try await one.check().why == "the object's ETag is not the file's MD5")
    let crc = try Self.sum(.crc64nvme, small).base64
    let encrypted = try make(
      small,
      [
        "ETag": etag, "x-amz-server-side-encryption": "aws:kms", "x-amz-checksum-crc64nvme": crc,
        "x-amz-checksum-type": "FULL_OBJECT",
      ])
    let same = try #require(try await encrypted.check(listed(small, etag)).same)
    #expect(same.evidence == "CRC64NVME \(crc) matches the file")
    #expect(same.sum == ObjectChecksum(.crc64nvme, .fullObject, crc))
  }

  @Test(
    "the ETag of parts is compared in the file's own parts, and in those of other programs",
    arguments: [5, 8, 10, 15, 16])
  func parts(size: Int) async throws {
    let etag = try Self.etag(large, size << 20)
    let one = try make(large, ["ETag": etag])
    let count = (large.count + (size << 20) - 1) / (size << 20)
    for listing in [true, false] {
      let same = try #require(try await one.check(listing ? listed(large, etag) : nil).same, "\(size)")
      #expect(same.parts == count)
      #expect(same.evidence.hasSuffix("matches the file in \(count) parts of \(size << 20) bytes"))
    }
    #expect(one.heads == 1)
    // Only the file's own part size is tried.
    let own = try Self.etag(large, 7 << 20)
    #expect(try await make(large).check(listed(large, own), partSize: 7 << 20).same?.parts == 3)
  }

  @Test(
    "an object that an upload made is recognised by the list alone, and one with an opaque ETag by its checksum",
    arguments: [true, false])
  func uploaded(hasMD5: Bool) async throws {
    let fake = try FakeS3(FakeOptions { if !hasMD5 { $0.partETags = .odd } })
    let world = World.hasty()
    let client = try fake.client(world)
    let file = try SourceFile(FilePath(try directory.write(large, to: "file")))
    let job = UploadJob(file: file, to: ObjectAddress("bucket", "key"))
    _ = try await Uploader(job: job, client: client, world: world) { _ in }.run()
    let listing = PrefixListing(client: client, BucketAddress("bucket"), prefix: "", retrying: RetryPolicy(tries: 1))
    guard case .listed(let listed) = await listing.find("key") else {
      Issue.record("the object is not listed")
      return
    }
    let heads = fake.requests(.headObject).count
    let same = try #require(
      try await SameCheck(
        client: client, head: Self.head, file: file, plan: UploadPlan(size: file.size), listed: listed
      ).run().same)
    #expect(same.evidence.hasPrefix(hasMD5 ? "ETag " : "CRC64NVME "))
    #expect(fake.requests(.headObject).count - heads == (hasMD5 ? 0 : 1))
  }

  @Test("one part is the whole file")
  func onePart() async throws {
    let etag = try Self.etag(small, 5)
    let one = try make(small, ["ETag": etag])
    #expect(try await one.check(listed(small, etag)).same?.evidence.hasSuffix("matches the file in 1 parts") == true)
    #expect(one.heads == 0)
    let other = "\"" + String(repeating: "0", count: 32) + "-1\""
    #expect(
      try await make(small, ["ETag": other]).check().why == "the object's ETag does not match the file in 1 parts")
  }

  @Test("other bytes in the same parts count as different, even if the time is the same")
  func otherParts() async throws {
    var other = large
    other[0] ^= 1
    let etag = try Self.etag(other, 8 << 20)
    let one = try make(large, ["ETag": etag, "x-amz-meta-mtime": "1700000000"])
    try setModified(directory.path("file"), seconds: 1_700_000_000, nanoseconds: 0)
    let file = try SourceFile(FilePath(directory.path("file")))
    let touched = Case(file: file, store: one.store, client: one.client)
    #expect(
      try await touched.check(listed(large, etag)).why?.hasPrefix(
        "the object's ETag does not match the file in 3 parts")
        == true)
    // A checksum of the whole object shows that only the division into parts differs.
    let sha = try Self.sum(.sha256, large).base64
    let proven = try make(large, ["ETag": etag, "x-amz-checksum-sha256": sha, "x-amz-checksum-type": "FULL_OBJECT"])
    #expect(try await proven.check(listed(large, etag)).same?.evidence == "SHA256 \(sha) matches the file")
  }

  @Test("each checksum of the whole object decides", arguments: ChecksumAlgorithm.allCases.filter { $0 != .md5 })
  func whole(algorithm: ChecksumAlgorithm) async throws {
    let sum = try Self.sum(algorithm, small).base64
    // Without a type the form decides.
    for type in ["FULL_OBJECT", ""] {
      let one = try make(small, ["ETag": "\"x\"", algorithm.headerName: sum, "x-amz-checksum-type": type])
      let same = try #require(try await one.check(listed(small, "\"x\""), etagMayBeMD5: false).same)
      #expect(same.sum?.value == sum)
      #expect(same.object.etag == "\"x\"")
      let other = try Self.sum(algorithm, [1]).base64
      let different = try make(small, [algorithm.headerName: other, "x-amz-checksum-type": type])
      #expect(try await different.check().why?.hasSuffix("does not match the file") == true)
    }
  }

  @Test(
    "a checksum of parts is compared with that of the file's own parts",
    arguments: [ChecksumAlgorithm.sha256, .sha1, .crc32c])
  func composite(algorithm: ChecksumAlgorithm) async throws {
    let text = try CompositeChecksum(of: Self.parts(algorithm, large, 8 << 20)).text
    let one = try make(large, ["ETag": "\"x\"", algorithm.headerName: text, "x-amz-checksum-type": "COMPOSITE"])
    let same = try #require(try await one.check().same)
    #expect(same.parts == 3)
    #expect(same.sum == ObjectChecksum(algorithm, .composite, text))
    // The same number of different parts, and another number of parts.
    #expect(try await one.check(partSize: 7 << 20).why?.contains("does not match the file in 3 parts") == true)
    #expect(try await one.check(partSize: 5 << 20).why?.hasPrefix("nothing that the store reveals") == true)
  }

  @Test("s3cmd's MD5 is preferred to its time")
  func s3cmd() async throws {
    let md5 = try Self.sum(.md5, small).hex
    let path = try directory.write(small, to: "file")
    try setModified(path, seconds: 1_700_000_000, nanoseconds: 5)
    let note = { (md5: String) in "atime:1/gname:root\(md5)/mtime:1700000000/uname:root" }
    for (text, evidence) in [
      (note("/md5:\(md5)"), "MD5 \(md5) recorded by s3cmd matches the file"),
      (note(""), "size and s3cmd's mtime of the object are the file's"),
    ] {
      let one = try make(at: path, ["x-amz-meta-s3cmd-attrs": text])
      #expect(try await one.check().same?.evidence == evidence)
    }
    let other = try make(at: path, ["x-amz-meta-s3cmd-attrs": note("/md5:" + (try Self.sum(.md5, [1]).hex))])
    #expect(try await other.check().why == "the MD5 recorded by s3cmd does not match the file")
  }

  @Test("time and size are compared last, and the evidence says so")
  func time() async throws {
    let path = try directory.write(small, to: "file")
    try setModified(path, seconds: 1_700_000_000, nanoseconds: 123_000_000)
    for name in ["s3up-mtime", "mtime"] {
      let one = try make(at: path, ["ETag": "\"x\"", "x-amz-meta-\(name)": "1700000000.123"])
      let same = try #require(try await one.check(listed(small, "\"x\"")).same)
      #expect(same.evidence == "size and \(name) of the object are the file's")
      #expect(same.sum == nil)
      let other = try make(at: path, ["x-amz-meta-\(name)": "1700000000.1230001"])
      #expect(try await other.check().why == "\(name) of the object is 1700000000.1230001, not the file's")
    }
    let unreadable = try make(at: path, ["x-amz-meta-mtime": "today"])
    #expect(try await unreadable.check().why?.hasPrefix("nothing that the store reveals") == true)
  }

  @Test("an object that is missing, may not be asked for, or cannot be asked for now")
  func answers() async throws {
    guard case .absent = try await make(small, status: 404).check() else {
      Issue.record("an object was found")
      return
    }
    #expect(try await make(small, status: 403).check().why == "HeadObject is not allowed")
    for status in [500, 503] {
      let one = try make(small, status: status)
      await #expect(throws: Failure.self) { try await one.check() }
    }
  }

  @Test("a file that is changed, and a run that is stopped, end the comparison")
  func changed() async throws {
    let md5 = "\"" + (try Self.sum(.md5, small)).hex + "\""
    let one = try make(small)
    try directory.write([1, 2, 3, 4, 5, 6], to: "file")
    let failure = await #expect(throws: Failure.self) { try await one.check(listed(small, md5)) }
    #expect(failure?.code == .sourceChanged)
    let other = try make(small)
    let stop = await #expect(throws: Failure.self) { try await other.check(listed(small, md5), isStopped: true) }
    #expect(stop?.code == .interrupted)
  }

  /// Compares by the CRC64NVME, and computes the SHA-256 in a second pass.
  private func summed(_ isStopped: @escaping @Sendable () -> Bool) async throws -> SameObject? {
    let crc = try Self.sum(.crc64nvme, large).base64
    let one = try make(large, ["x-amz-checksum-crc64nvme": crc, "x-amz-checksum-type": "FULL_OBJECT"])
    return try await SameCheck(
      client: one.client, head: Self.head, file: one.file, plan: UploadPlan(size: one.file.size),
      wantsSHA256: true, isStopped: isStopped
    ).run().same
  }

  @Test("the SHA-256 of an identical file is that of the bytes that were compared, whatever is written in between")
  func summed() async throws {
    let asked = Locked(0)
    let count = { @Sendable () -> Int in
      asked.withLock { count in
        count += 1
        return count
      }
    }
    let sum = try Self.sum(.sha256, large)
    #expect(try await summed { count() < 0 }?.sha256 == sum)
    // Stops between the passes.
    let middle = asked.withLock { $0 } / 2 + 1
    for touch in Touch.allCases {
      asked.withLock { $0 = 0 }
      let path = directory.path("file")
      let act = { @Sendable () -> Bool in
        if count() == middle { try? touch.happen(to: path) }
        return false
      }
      guard touch == .rewritten else {
        #expect(try await summed(act)?.sha256 == sum, "\(touch)")
        continue
      }
      let failure = await #expect(throws: Failure.self) { try await summed(act) }
      #expect(failure?.code == .sourceChanged)
    }
  }

  @Test("if bytes have to be compared, the same time and size are not enough")
  func timeAlone() async throws {
    let path = try directory.write(small, to: "file")
    try setModified(path, seconds: 1_700_000_000, nanoseconds: 0)
    let one = try make(at: path, ["x-amz-meta-mtime": "1700000000"])
    var check = SameCheck(
      client: one.client, head: Self.head, file: one.file, plan: try UploadPlan(size: 5))
    #expect(try await check.run().same != nil)
    check.purpose = .skipping(timesCount: false)
    #expect(try await check.run().why?.hasPrefix("nothing that the store reveals") == true)
  }

  private func make(at path: String, _ headers: HeaderList) throws -> Case {
    var headers = headers
    headers.add("Content-Length", "5")
    let answer = Response(status: 200, headers: headers)
    let store = ScriptedStore { (_, _) throws(Failure) in answer }
    return Case(
      file: try SourceFile(FilePath(path)), store: store, client: try store.client(TestWorld().world))
  }
}

extension Sameness {
  fileprivate var same: SameObject? { if case .same(let object) = self { object } else { nil } }
  fileprivate var why: String? {
    switch self {
    case .different(let why), .unknown(let why): why
    case .same, .absent: nil
    }
  }
}
