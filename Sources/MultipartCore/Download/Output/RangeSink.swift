import MultipartBasics

/// Decides which transfer of each range may still write it: the first copy that has all its bytes wins, and from then
/// on no other transfer writes there.
final class RangeClaims: Sendable {
  private struct Won: Sendable {
    var winners: [Int: Int] = [:]
    /// Transfers up to this one no longer write anything.
    var outdated = 0
  }

  /// The locks for ranges, by number: a single lock for all would let only one loop write at a time.
  private let won: [Locked<Won>]
  private let count = Locked(0)

  init(isOneRange: Bool) { won = (0..<(isOneRange ? 1 : 64)).map { _ in Locked(Won()) } }

  func enter() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }

  /// Forgets all winners, because every range is downloaded once more. A slow earlier copy may still be running.
  func forgetAll() {
    let begun = count.withLock { $0 }
    for part in won { part.withLock { $0 = Won(outdated: begun) } }
  }

  /// The winner could not use the range: another transfer may still win.
  func forget(_ range: Int, by transfer: Int) {
    won[range % won.count].withLock { won in
      if won.winners[range] == transfer { won.winners[range] = nil }
    }
  }

  /// Writes a range; nil if another transfer has won.
  func write(_ range: Int, by transfer: Int, wins: Bool = false, _ body: () -> Failure?) -> (Failure?)? {
    won[range % won.count].withLock { won in
      guard transfer > won.outdated else { return .none }
      if let winner = won.winners[range], winner != transfer { return .none }
      let failure = body()
      if wins, failure == nil { won.winners[range] = transfer }
      return .some(failure)
    }
  }
}

/// Receives one range. Before the first byte the answer must be the requested range of the requested object: a store or
/// a proxy may return the whole object, or a different one.
///
/// `@unchecked Sendable` holds because only the loop's thread uses it until the answer, and only the task that waits
/// for the answer afterwards.
final class RangeSink: BodySink, @unchecked Sendable {
  struct Wanted: Sendable {
    var number: Int
    /// The range's first position in the object.
    var first: Int64
    var length: Int64
    /// The size of the whole object.
    var size: Int64
    var identity: ObjectIdentity
    /// All this is known from a list only, which may be wrong or old.
    var isListed = false
    var isWhole: Bool { first == 0 && length == size }
  }

  private let wanted: Wanted
  private let take: (UnsafeRawBufferPointer, Int64) -> Failure?
  private let moved: (Int64) -> Void
  private let isDue: () -> Bool
  private let note: (Int64, [ChecksumAlgorithm: Checksum]) -> Void
  private var sums: MultiChecksum
  private var buffer: [UInt8] = []
  private let step: Int
  private var written: Int64 = 0
  private(set) var received: Int64 = 0
  private(set) var failure: Failure?
  /// Whether the whole object came instead of the range.
  private(set) var gotWholeObject = false
  /// Whether the answer says how long it is.
  private var saysLength = false
  /// Whether what has arrived can be taken for the beginning of the range. An answer without a length may be something
  /// else, such as an error, which is short.
  private var mayBeKept: Bool { saysLength || received > Int64(Self.longestError) }
  private static let longestError = 64 << 10

  static let step = 512 << 10

  /// `take` receives pieces of `step` bytes and their positions in the range; with `.max` the whole range, and only once
  /// its answer is complete: a copy that claimed the range and then broke would keep the other one from finishing.
  /// When `isDue`, and when the answer broke off, `take` also gets less than a step, and `note` the number of bytes so
  /// far with their checksums.
  init(
    _ wanted: Wanted, _ algorithms: Set<ChecksumAlgorithm>, step: Int = step, moved: @escaping (Int64) -> Void,
    take: @escaping (UnsafeRawBufferPointer, Int64) -> Failure?,
    isDue: @escaping () -> Bool = { false },
    note: @escaping (Int64, [ChecksumAlgorithm: Checksum]) -> Void = { _, _ in }
  ) throws(Failure) {
    (self.wanted, self.step, self.moved, self.take) = (wanted, step, moved, take)
    (self.isDue, self.note) = (isDue, note)
    sums = try MultiChecksum(algorithms)
    buffer.reserveCapacity(Int(min(Int64(step), wanted.length)))
  }

  func begin(_ status: Int, _ headers: HeaderList) -> Failure? {
    failure = Self.judge(status, headers, wanted)
    saysLength = headers.contentLength != nil
    gotWholeObject = failure?.code == .refused
    return failure
  }

  /// Why the answer is not what was requested; nil if it is.
  static func judge(_ status: Int, _ headers: HeaderList, _ wanted: Wanted) -> Failure? {
    let given = ObjectIdentity(
      etag: headers["ETag"], versionID: headers[HeaderName.versionID],
      modified: headers["Last-Modified"].flatMap(DateText.http))
    if wanted.identity.isReplaced(by: given) { return replaced }
    let isSame = !wanted.isListed && wanted.identity.etag.map { $0.form != .opaque && $0 == given.etag } ?? false
    // rclone's server sends ranges with 200.
    guard status == 206 || (status == 200 && headers["Content-Range"] != nil) else {
      guard status == 200, wanted.isWhole else {
        return WebPage.failure(status, headers)
          ?? Failure(
            .refused, "the store returned the whole object instead of a range",
            remedy: "download the whole object, with a \(.partSize) of at least its size")
      }
      let length = headers.contentLength ?? wanted.length
      guard length != wanted.length else { return nil }
      return WebPage.failure(status, headers)
        ?? (isSame ? faulty("\(length) bytes of an object of \(wanted.length)") : replaced)
    }
    guard let range = headers["Content-Range"] else {
      return Failure(.server, "the store returned a range without saying which one")
    }
    let text = ASCII.trimmed(range)
    let last = wanted.first + wanted.length - 1
    guard
      text.utf8.elementsEqual("bytes \(wanted.first)-\(last)/\(wanted.size)".utf8)
        || text.utf8.elementsEqual("bytes \(wanted.first)-\(last)/*".utf8)
    else {
      if let total = text.words(between: "/").last.flatMap({ Int64($0, in: 0 ... .max) }), total != wanted.size,
        !isSame
      {
        return replaced
      }
      return faulty("a different range than the requested one: \(SafeText.oneLine(text))")
    }
    if let length = headers.contentLength, length != wanted.length {
      return faulty("\(length) bytes as a range of \(wanted.length)")
    }
    return nil
  }

  private static func faulty(_ what: String) -> Failure { Failure(.server, "the store returned \(what)") }

  static var replaced: Failure {
    Failure(
      .sourceChanged, "the object was replaced while it was downloaded",
      remedy: "run it again, for the object that is there now")
  }

  static var deleted: Failure {
    Failure(
      .sourceChanged, "the object was deleted while it was downloaded",
      remedy: "\(run: .listObjects) shows what is there")
  }

  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard received + Int64(bytes.count) <= wanted.length else {
      failure = Failure(.server, "the store sends more bytes than the range has")
      return false
    }
    sums.update(bytes)
    received += Int64(bytes.count)
    moved(received)
    buffer.append(contentsOf: bytes)
    let notes = mayBeKept && isDue()
    return buffer.count < step && !notes || flush(notes: notes)
  }

  /// Writes what has arrived of an answer that broke off, for the next try or the next run; nil if nothing has.
  func keepArrived() -> (length: Int64, sums: [ChecksumAlgorithm: Checksum])? {
    guard failure == nil, mayBeKept, received > 0, flush(notes: true), let sums = try? sums.finish() else {
      return nil
    }
    return (written, sums)
  }

  private func flush(notes: Bool = false) -> Bool {
    let failed = buffer.withUnsafeBytes { take($0, written) }
    written += Int64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
    failure = failed
    if failed == nil, notes, let sums = try? sums.finish() { note(written, sums) }
    return failed == nil
  }

  /// Finishes a successful answer: all of it is written, and these are its checksums.
  func finish() throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    guard received == wanted.length else {
      throw Failure(.network, "the range ended after \(received) of its \(wanted.length) bytes")
    }
    if !buffer.isEmpty, !flush(), let failure { throw failure }
    return try sums.finish()
  }
}
