import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// Checks of a range's answer before any of it is written.
@Suite struct RangeSinkTests {
  private let taken = Locked<[UInt8]>([])
  private static let none = ObjectIdentity(etag: nil, modified: nil)

  private func sink(of length: Int64, step: Int = 64) throws -> RangeSink {
    let wanted = RangeSink.Wanted(number: 2, first: 1000, length: length, size: 5000, identity: Self.none)
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
    "Bytes beyond the range are refused, and none of them is written into the next range", arguments: [1, 63, 64])
  func tooMany(_ more: Int) throws {
    let sink = try sink(of: 640)
    let bytes = randomBytes(640 + more, seed: 9)
    #expect(bytes[..<600].withUnsafeBytes { sink.receive($0) })
    #expect(!bytes[600...].withUnsafeBytes { sink.receive($0) })
    #expect(sink.failure?.code == .server)
    #expect(taken.withLock { $0 } == Array(bytes[..<600]))
  }

  @Test(
    "What counts is which bytes an answer says it has: a range may come with 200, as from rclone's server",
    arguments: [
      (206, "bytes 1000-1639/5000", nil), (200, "bytes 1000-1639/5000", nil), (206, "bytes 1000-1639/*", nil),
      (200, nil, .refused), (206, nil, .server), (200, "bytes 0-4999/5000", .server),
      (206, "bytes 0-639/5000", .server),
      (200, "bytes 1000-1639/5001", .sourceChanged),
    ] as [(Int, String?, Failure.Code?)])
  func judged(_ status: Int, _ range: String?, _ code: Failure.Code?) {
    let wanted = RangeSink.Wanted(number: 2, first: 1000, length: 640, size: 5000, identity: Self.none)
    var headers: HeaderList = [:]
    headers.add("Content-Range", range)
    #expect(RangeSink.judge(status, headers, wanted)?.code == code)
    headers.add("Content-Length", "639")
    #expect(RangeSink.judge(status, headers, wanted)?.code == code ?? .server)
    headers.add("Content-Type", "text/html")
    #expect(RangeSink.judge(status, headers, wanted)?.code == (code == .refused ? .network : code ?? .server))
  }

  @Test(
    "The beginning of a range is kept if its answer says how long it is, or if it is longer than any error",
    arguments: [(100, true, true), (100, false, false), (64 << 10, false, false), (65 << 10, false, true)])
  func beginning(_ count: Int, _ saysLength: Bool, _ isKept: Bool) throws {
    let wanted = RangeSink.Wanted(number: 2, first: 1000, length: 100_000, size: 500_000, identity: Self.none)
    let sink = try RangeSink(wanted, [.crc64nvme], moved: { _ in }, take: { _, _ in nil })
    var headers: HeaderList = ["Content-Range": "bytes 1000-100999/500000"]
    if saysLength { headers.add("Content-Length", "100000") }
    #expect(sink.begin(206, headers) == nil)
    #expect(randomBytes(count, seed: 9).withUnsafeBytes { sink.receive($0) })
    #expect(sink.keepArrived()?.length == (isKept ? Int64(count) : nil))
  }

  @Test("An ETag that is a hash decides alone whether the object was replaced; otherwise version and time tell it too")
  func replaced() {
    let hash = "\"d41d8cd98f00b204e9800998ecf8427e-2\""
    var wanted = RangeSink.Wanted(number: 2, first: 1000, length: 640, size: 5000, identity: Self.none)
    let range = ("Content-Range", "bytes 1000-1639/5000")
    let (etag, version, time) = ("ETag", "x-amz-version-id", "Last-Modified")
    let (same, later) = ("Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:01 GMT")
    let answers: [(String, [(String, String)], Bool)] = [
      ("\"e\"", [], false), ("\"e\"", [(version, "v1")], false), ("\"e\"", [(version, "v2")], true),
      (hash, [(etag, hash), (version, "v2")], false), (hash, [(etag, hash), (time, later)], false),
      ("\"e\"", [(etag, "\"e\""), (version, "v2")], true), ("\"e\"", [(etag, "\"e\""), (time, later)], true),
      ("\"e\"", [(etag, "\"e\""), (version, "v1"), (time, same)], false),
      ("\"e\"", [(etag, "\"f\""), (version, "v1")], true), ("\"e\"", [(time, same)], false),
      ("\"e\"", [(time, later), (version, "v1")], true), ("", [(etag, ""), (time, later)], true),
      ("\"\"", [(etag, "\"\""), (time, later)], true), ("\"\"", [(etag, "\"\""), (time, same)], false),
    ]
    for (expected, fields, isReplaced) in answers {
      wanted.identity = ObjectIdentity(etag: expected, versionID: "v1", modified: Timestamp(seconds: 0))
      var headers: HeaderList = [:]
      for (name, value) in fields + [range] { headers.add(name, value) }
      #expect((RangeSink.judge(206, headers, wanted)?.code == .sourceChanged) == isReplaced, "\(expected) \(fields)")
    }
  }

  @Test("An answer of another length is the store's fault if its ETag, a hash, is still the object's")
  func faulty() {
    let hash = "\"d41d8cd98f00b204e9800998ecf8427e\""
    for (etag, code) in [(hash, Failure.Code.server), ("\"odd\"", .sourceChanged), (nil, .sourceChanged)] {
      let identity = ObjectIdentity(etag: etag, modified: nil)
      var whole = RangeSink.Wanted(number: 1, first: 0, length: 640, size: 640, identity: identity)
      var headers: HeaderList = [:]
      headers.add("ETag", etag)
      headers.add("Content-Length", "17")
      #expect(RangeSink.judge(200, headers, whole)?.code == code)
      // What a list says about the size may be wrong.
      whole.isListed = true
      #expect(RangeSink.judge(200, headers, whole)?.code == .sourceChanged)
      let part = RangeSink.Wanted(number: 1, first: 0, length: 640, size: 1000, identity: identity)
      headers.add("Content-Range", "bytes 0-639/1001")
      #expect(RangeSink.judge(206, headers, part)?.code == code)
    }
  }

  @Test("Too few bytes count as a cut connection; all of them have their checksum, and are written in order")
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

  @Test("A range that is held in memory is handed over once its answer is complete, not with its last byte")
  func held() throws {
    let bytes: [UInt8] = (0..<100).map { UInt8($0) }
    let taken = Locked<[UInt8]>([])
    let wanted = RangeSink.Wanted(number: 0, first: 0, length: 100, size: 100, identity: Self.none)
    let sink = try RangeSink(
      wanted, [], step: .max, moved: { _ in },
      take: { piece, _ in
        taken.withLock { $0 += Array(piece) }
        return nil
      })
    #expect(bytes.withUnsafeBytes { sink.receive($0) })
    #expect(taken.withLock { $0.isEmpty })
    _ = try sink.finish()
    #expect(taken.withLock { $0 } == bytes)
  }

  @Test("A range is written by its winner only, and by no transfer that began before everything was downloaded anew")
  func claims() {
    let claims = RangeClaims(isOneRange: false)
    let (first, second) = (claims.enter(), claims.enter())
    #expect(claims.write(1, by: first, { nil }) != nil)
    #expect(claims.write(1, by: second, wins: true, { nil }) != nil)
    #expect(claims.write(1, by: first, { nil }) == nil)
    #expect(claims.write(1, by: second, { nil }) != nil)
    claims.forget(1, by: first)
    #expect(claims.write(1, by: first, { nil }) == nil)
    claims.forget(1, by: second)
    #expect(claims.write(1, by: first, wins: true, { nil }) != nil)
    #expect(claims.write(1, by: second, { nil }) == nil)
    claims.forgetAll()
    #expect(claims.write(1, by: second, { nil }) == nil)
    #expect(claims.write(1, by: claims.enter(), { nil }) != nil)
  }
}
