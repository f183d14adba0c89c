import Glibc
import MultipartBasics

/// What is known about an interrupted download: which object in which version, and the checksums of the ranges, and of
/// the beginnings of ranges, that were written to the part file. They are believed only if the bytes on disk have these
/// checksums, so nothing need be made durable.
/// ```
/// s3up download 1 CRC
/// object ORIGIN BUCKET KEY VERSION IDENTITY START SIZE RANGE-SIZE TARGET CRC
/// range NUMBER LENGTH CRC64NVME CRC
/// ```
final class DownloadRecord: Sendable {
  struct Header: Sendable {
    var target: RecordTarget
    var version: String
    /// What shows that the object is the same: its ETag, if that is a hash.
    var identity: String
    var plan: RangePlan
    var file: FilePath

    static let placeOfRangeSize = 8

    var words: [RecordLine.Word] {
      let texts = [
        "object", target.origin, target.bucket, target.key, version, identity, String(plan.start), String(plan.size),
        String(plan.rangeSize),
      ]
      return texts.map { Array($0.utf8) } + [file.bytes]
    }
  }

  /// The bytes from the beginning of a range that were written.
  struct Written: Sendable {
    var length: Int64
    var sum: Checksum
  }

  private struct State: Sendable {
    var file: RecordFile?
    var hasRanges: Bool
  }

  static let folderName = "downloads"
  private static let opening = ["s3up", "download", "1"].map { Array($0.utf8) }
  private static let mostBytes = 64 << 20

  private let folder: RecordFolder
  private let name: String
  private let seed: UInt32
  private let lock: RecordLock
  private let state: Locked<State>
  /// What an earlier run has written of each range, by number.
  let found: [Int: Written]

  private init(
    _ folder: RecordFolder, _ name: String, _ lock: RecordLock, _ file: RecordFile, seed: UInt32,
    found: [Int: Written]
  ) {
    (self.folder, self.name, self.lock, self.seed, self.found) = (folder, name, lock, seed, found)
    state = Locked(State(file: file, hasRanges: !found.isEmpty))
  }

  /// Whether there is anything to resume from.
  var hasRanges: Bool { state.withLock { $0.hasRanges } }

  /// Continues the record of the same object, divided in the same way, or begins one; nil while another run holds it.
  static func open(_ path: String, _ header: Header) throws(Failure) -> DownloadRecord? {
    let folder = try RecordFolder.make(path + "/" + folderName)
    let name = try name(header.file)
    guard let lock = try RecordLock.take(folder, name + ".lock") else { return nil }
    do throws(Failure) {
      if lock.leftSince != nil { folder.removeLeftovers(beside: name) }
      if let file = try folder.file(name, O_RDWR | O_APPEND), let reading = read(try file.read(most: mostBytes), header)
      {
        try file.cut(to: reading.length)
        return DownloadRecord(folder, name, lock, file, seed: reading.seed, found: reading.ranges)
      }
      let head = RecordLine.write(header.words)
      let file = try folder.replace(name, with: RecordLine.write(opening).bytes + head.bytes)
      return DownloadRecord(folder, name, lock, file, seed: head.crc, found: [:])
    } catch {
      lock.release()
      throw error
    }
  }

  /// The size of the ranges in a record of the same bytes, however they are divided; nil if there is none.
  static func rangeSize(_ path: String, _ header: Header) -> Int64? {
    guard let (bytes, words) = earlier(path, header.file), words.count == header.words.count,
      let size = Int64(words[Header.placeOfRangeSize], in: 1...Int64.max)
    else { return nil }
    var other = header
    other.plan = RangePlan(start: header.plan.start, size: header.plan.size, rangeSize: size)
    return read(bytes, other) == nil ? nil : size
  }

  /// Whether an earlier run has left a record of this object, in whatever version, for this file.
  static func isLeft(_ path: String, _ target: RecordTarget, _ file: FilePath) -> Bool {
    let place = [target.origin, target.bucket, target.key].map { Array($0.utf8) }
    return earlier(path, file).map { Array($0.words.dropFirst().prefix(place.count)) == place } ?? false
  }

  /// The record for this file, and the words of its header.
  private static func earlier(_ path: String, _ file: FilePath) -> (bytes: [UInt8], words: [RecordLine.Word])? {
    guard let folder = try? RecordFolder.open(path + "/" + folderName), let name = try? name(file),
      let file = try? folder.file(name, O_RDONLY), let bytes = try? file.read(most: mostBytes),
      let second = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2).dropFirst().first,
      let words = RecordLine.read(second)?.words
    else { return nil }
    return (bytes, words)
  }

  private static func name(_ file: FilePath) throws(Failure) -> String {
    Hex.encode(try Digest.sha256(file.bytes).prefix(16)) + ".record"
  }

  /// Reads the record; nil unless it is of this very object.
  private static func read(
    _ bytes: [UInt8], _ header: Header
  ) -> (ranges: [Int: Written], length: Int, seed: UInt32)? {
    var rest = bytes[...]
    func next() -> ArraySlice<UInt8>? {
      guard let end = rest.prefix(RecordLine.longest).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return rest[..<end]
    }
    guard let first = next(), RecordLine.read(first)?.words == opening, let second = next(),
      let head = RecordLine.read(second), head.words == header.words
    else { return nil }
    var ranges: [Int: Written] = [:]
    var length = rest.startIndex
    while let line = next(), let words = RecordLine.read(line, seed: head.crc)?.words, words.count == 4,
      words[0] == Array("range".utf8), let number = Int(words[1], in: 1...max(1, header.plan.count)),
      let written = Int64(words[2], in: 1...max(1, header.plan.range(of: number).length)),
      let sum = Hex.decode(String(decoding: words[3], as: UTF8.self)).flatMap({ Checksum(.crc64nvme, bytes: $0) })
    {
      // A range that was tried again may have a shorter beginning, or other bytes.
      if written >= ranges[number]?.length ?? 0 { ranges[number] = Written(length: written, sum: sum) }
      length = rest.startIndex
    }
    return (ranges, length, head.crc)
  }

  /// Records what was written of a range. If the disk cannot take it, the only cost is that it is downloaded again on
  /// resume.
  func append(_ number: Int, _ written: Written) {
    let words = ["range", String(number), String(written.length), written.sum.hex].map { Array($0.utf8) }
    let line = RecordLine.write(words, seed: seed).bytes
    state.withLock { state in
      guard let file = state.file else { return }
      if (try? file.write(line)) != nil { state.hasRanges = true } else { state.file = nil }
    }
  }

  /// Keeps or deletes the record at the end of the run.
  func close(keeps: Bool) {
    if !keeps { try? folder.remove(name) }
    state.withLock { $0.file = nil }
    lock.release()
  }
}
