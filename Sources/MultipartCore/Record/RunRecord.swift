import Glibc
import MultipartBasics

/// What an interrupted batch has already completed, in `runs/` of the state folder: one line for each object, so that
/// the next run need not compare it. A line is 64 bits of a SHA-256 over the object's place, and 64 bits over all that
/// determines it: the file, what the object was created with, and its ETag. The record's seed is part of both, so that
/// lines of another record never match. The last line of an object counts. The number 0 means that nothing is known
/// about it, and 1 that the file of a download was about to come into being.
/// ```
/// s3up run 2 SEED CRC
/// 32 hex digits
/// ```
/// Each line is written at once, so that a killed run has recorded everything that it confirmed. It is not made
/// durable: after a power cut the lines of the last seconds may be missing, and their files are sent again.
final class RunRecord: Sendable {
  /// An object's place, what it is created with, and its file.
  struct Object: Sendable {
    var bucket: String
    var key: String
    /// A digest of the options.
    var options: String
    var source: FileIdentity
  }

  private struct Line: Sendable {
    var place: UInt64
    var contents: UInt64
  }

  private struct State: Sendable {
    /// The file; nil once it is closed or removed.
    var file: RecordFile?
    /// Why it can no longer be written.
    var trouble: Failure?
  }

  private let folder: RecordFolder
  private let name: String
  private let lock: RecordLock
  private let seed: [UInt8]
  /// The lines, sorted by place; those of one place are in the order in which they were written.
  private let lines: [Line]
  private let state: Locked<State>

  private init(
    _ folder: RecordFolder, _ name: String, _ lock: RecordLock, _ file: RecordFile, seed: [UInt8], lines: [Line]
  ) {
    self.folder = folder
    self.name = name
    self.lock = lock
    self.seed = seed
    self.lines = lines
    state = Locked(State(file: file))
  }

  /// Whether an earlier run has left lines.
  var isResumed: Bool { !lines.isEmpty }

  /// A name of 128 bits from everything that identifies the run.
  static func name(of texts: [String]) throws(Failure) -> String {
    Hex.encode(try Digest.sha256(lengthened(texts)).prefix(16))
  }

  /// Opens the record; nil while another run has it. A record that is damaged, of a different version or not ours is
  /// replaced.
  static func open(
    folder path: String, name: String, now: Timestamp, most: Int = mostLines
  ) throws(Failure) -> RunRecord? {
    guard !path.isEmpty else {
      throw Failure(.local, "there is no state folder", remedy: "name one with \(.stateFolder)")
    }
    let folder = try RecordFolder.make(path + "/" + folderName)
    guard let lock = try RecordLock.take(folder, name + ".lock") else { return nil }
    do throws(Failure) {
      if lock.leftSince != nil { folder.removeLeftovers(beside: name) }
      removeOld(in: folder, before: now.seconds - longestKept)
      if let record = try read(folder, name, lock, most: most) { return record }
      let seed = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
      let file = try folder.replace(name, with: RecordLine.write(opening + [Array(Hex.encode(seed).utf8)]).bytes)
      return RunRecord(folder, name, lock, file, seed: seed, lines: [])
    } catch {
      lock.release()
      throw error
    }
  }

  /// Whether an earlier run has recorded this object with the same identity, such as its ETag.
  func knows(_ object: Object, identity: String) throws(Failure) -> Bool {
    guard isResumed else { return false }
    let wanted = try line(object, identity)
    return last(of: wanted.place)?.contents == wanted.contents
  }

  /// Records an object.
  func append(_ object: Object, identity: String) throws(Failure) {
    write(try line(object, identity))
  }

  /// Invalidates the earlier line before the object is sent: if this run is killed before it has recorded the new
  /// object, that line must not count for it.
  func forget(_ object: Object) throws(Failure) {
    let place = try place(object.bucket, object.key)
    guard let known = last(of: place), known.contents != 0 else { return }
    write(Line(place: place, contents: 0), voids: true)
  }

  /// Notes that the file of a download is about to come into being: if this run is killed before it has recorded it,
  /// the next run must not take it for somebody else's.
  func begin(bucket: String, key: String) throws(Failure) {
    write(Line(place: try place(bucket, key), contents: Self.begun))
  }

  /// Whether the earlier run was about to create it when it ended.
  func hasBegun(bucket: String, key: String) throws(Failure) -> Bool {
    guard isResumed else { return false }
    return last(of: try place(bucket, key))?.contents == Self.begun
  }

  /// Takes `begin` back: the file has not come into being.
  func withdraw(bucket: String, key: String) throws(Failure) {
    write(Line(place: try place(bucket, key), contents: 0))
  }

  private func last(of place: UInt64) -> Line? {
    var (low, high) = (0, lines.count)
    while low < high {
      let middle = (low + high) / 2
      if lines[middle].place <= place { low = middle + 1 } else { high = middle }
    }
    return low > 0 && lines[low - 1].place == place ? lines[low - 1] : nil
  }

  /// If the disk fails, the run continues, and nothing more is recorded. An earlier line that this one `voids` must not
  /// stay: then the whole record goes.
  private func write(_ line: Line, voids: Bool = false) {
    let bytes = Self.bytes(of: line.place) + Self.bytes(of: line.contents)
    state.withLock { state in
      guard let file = state.file else { return }
      if state.trouble == nil {
        do throws(Failure) {
          return try file.write(Array(Hex.encode(bytes).utf8) + [UInt8(ascii: "\n")])
        } catch {
          // An incomplete line is cut off when the record is read.
          state.trouble = error
        }
      }
      guard voids else { return }
      if folder.has(file, as: name) { try? folder.remove(name) }
      state.file = nil
    }
  }

  /// The last call; throws if the record could not be written. The next run resumes it only if it is kept.
  func close(keeps: Bool) throws(Failure) {
    try state.withLock { (state) throws(Failure) in
      defer {
        state.file = nil
        lock.release()
      }
      if !keeps, let file = state.file, folder.has(file, as: name) { try folder.remove(name) }
      if let trouble = state.trouble { throw trouble }
    }
  }
}

extension RunRecord {
  // MARK: Lines

  static let folderName = "runs"
  private static let opening = ["s3up", "run", "2"].map { Array($0.utf8) }
  private static let begun: UInt64 = 1
  private static let lineLength = 33
  /// The newest lines count, up to 32 MB of memory.
  static let mostLines = 2_000_000
  /// More than the length of the first line.
  private static let longestOpening = 128
  private static let longestKept: Int64 = 30 * 86_400

  private func place(_ bucket: String, _ key: String) throws(Failure) -> UInt64 {
    try number(of: Self.lengthened([bucket, key]))
  }

  private func line(_ object: Object, _ identity: String) throws(Failure) -> Line {
    // A list and an answer may write an ETag differently.
    let texts = Self.lengthened([object.options, ETag(identity)?.value ?? ""])
    let contents = try number(of: object.source.numbers.flatMap(Self.bytes) + texts)
    return Line(place: try place(object.bucket, object.key), contents: contents)
  }

  private func number(of bytes: [UInt8]) throws(Failure) -> UInt64 {
    try Digest.sha256(seed + bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The texts, each with its length, so that different lists never give the same bytes.
  private static func lengthened(_ texts: [String]) -> [UInt8] {
    texts.flatMap { bytes(of: UInt64($0.utf8.count)) + Array($0.utf8) }
  }

  private static func bytes(of number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

  /// Reads the record; nil if there is none that can be used. Anything after the last complete line is cut off.
  private static func read(
    _ folder: RecordFolder, _ name: String, _ lock: RecordLock, most: Int
  ) throws(Failure) -> RunRecord? {
    let found: RecordFile?
    do throws(Failure) {
      found = try folder.file(name, O_RDWR | O_APPEND)
    } catch {
      // It belongs to another user, or is not a file: it is replaced.
      guard error.code == .configuration else { throw error }
      return nil
    }
    guard let file = found else { return nil }
    let head = try file.read(most: longestOpening)
    guard let end = head.firstIndex(of: UInt8(ascii: "\n")), let words = RecordLine.read(head[..<end])?.words,
      words.count == opening.count + 1, words.starts(with: opening),
      let seed = Hex.decode(String(decoding: words[opening.count], as: UTF8.self)), seed.count == 16
    else { return nil }
    var lines: [Line] = []
    let written = max(0, (try file.length() - end - 1) / lineLength)
    var length = end + 1 + max(0, written - most) * lineLength
    var chunk = [UInt8](repeating: 0, count: lineLength * 4096)
    reading: while true {
      let count = pread(file.descriptor, &chunk, chunk.count, off_t(length))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw file.failure("cannot be read") }
      guard count >= lineLength else { break }
      for start in stride(from: 0, through: count - lineLength, by: lineLength) {
        guard let line = Self.line(chunk[start..<start + lineLength]) else { break reading }
        lines.append(line)
        length += lineLength
      }
    }
    try file.cut(to: length)
    // The order within a place stays.
    lines.sort { $0.place < $1.place }
    return RunRecord(folder, name, lock, file, seed: seed, lines: lines)
  }

  /// Parses a line; nil unless it is 32 hex digits and a line feed.
  private static func line(_ text: ArraySlice<UInt8>) -> Line? {
    guard text.last == UInt8(ascii: "\n") else { return nil }
    var line = Line(place: 0, contents: 0)
    for letter in text.dropLast() {
      guard let value = Hex.value(of: letter) else { return nil }
      line.place = line.place << 4 | line.contents >> 60
      line.contents = line.contents << 4 | UInt64(value)
    }
    return line
  }

  /// Deletes records of runs that were never resumed. One that cannot be examined or removed stays.
  private static func removeOld(in folder: RecordFolder, before oldest: Int64) {
    for name in (try? folder.names()) ?? [] where name.utf8.count == 32 && Hex.decode(name) != nil {
      var status = stat()
      guard let file = try? folder.file(name, O_RDONLY), fstat(file.descriptor, &status) == 0,
        Int64(status.st_mtim.tv_sec) < oldest, let lock = try? RecordLock.take(folder, name + ".lock")
      else { continue }
      try? folder.remove(name)
      lock.release()
    }
  }
}
