import Glibc
import MultipartBasics

/// Decides when entries are made durable: at once if the last flush was more than a second ago or if much has been sent
/// since, otherwise later. This only matters for power cuts; a killed process loses nothing.
struct FlushPace: Sendable {
  static let interval = Duration.seconds(1)
  static let mostBytes: Int64 = 64 << 20

  private var last: Duration?
  private var waiting: Int64 = 0

  /// Whether to flush after a part of `size`.
  mutating func isDue(after size: Int64, now: Duration) -> Bool {
    let (sum, tooMuch) = waiting.addingReportingOverflow(size)
    waiting = tooMuch ? .max : sum
    guard let last else { return true }
    return now - last >= Self.interval || waiting >= Self.mostBytes
  }

  mutating func flushed(now: Duration?) {
    last = now ?? last
    waiting = 0
  }
}

/// The record of a running upload, open at its end. After `remove`, further parts are ignored.
final class RecordWriter: Sendable {
  private struct State: Sendable {
    /// The file; nil after the record was deleted.
    var file: RecordFile?
    var length: Int
    var pace = FlushPace()
    /// Set if the file ends with an incomplete entry that could not be cut off: what follows it could not be read.
    var broken: Failure?
  }

  private let folder: RecordFolder
  private let name: String
  private let seed: UInt32
  private let state: Locked<State>

  init(_ folder: RecordFolder, _ name: String, _ file: RecordFile, length: Int, seed: UInt32) {
    self.folder = folder
    self.name = name
    self.seed = seed
    state = Locked(State(file: file, length: length))
  }

  /// Appends an entry with one `write`, and an `fdatasync` if it is due by `now`, an uptime. If it throws, the earlier
  /// entries are unchanged, and the next part may succeed again.
  func append(_ part: UploadRecord.Part, now: Duration) throws(Failure) {
    let entry = try RecordText.entry(part, seed: seed)
    try state.withLock { (state) throws(Failure) -> Void in
      guard let file = state.file else { return }
      try Self.write(entry, to: file, &state)
      guard state.pace.isDue(after: part.size, now: now) else { return }
      // Set first: if the disk cannot flush, it is not asked again for each part.
      state.pace.flushed(now: now)
      try file.sync()
    }
  }

  /// Makes the entries durable (`fdatasync`).
  func flush() throws(Failure) {
    try state.withLock { (state) throws(Failure) -> Void in
      guard let file = state.file else { return }
      try file.sync()
      state.pace.flushed(now: nil)
    }
  }

  /// The record, if its file has lost its name: somebody has removed it.
  func lost() throws(Failure) -> UploadRecord? {
    try state.withLock { (state) throws(Failure) in
      guard let file = state.file, !folder.has(file, as: name) else { return nil }
      return try RecordText.read(try file.read(most: RecordText.mostBytes))?.record
    }
  }

  /// Deletes the record durably, unless another run has replaced it by its own.
  func remove() throws(Failure) {
    try state.withLock { (state) throws(Failure) -> Void in
      guard let file = state.file else { return }
      if folder.has(file, as: name) { try folder.remove(name) }
      state.file = nil
    }
  }

  private static func write(_ entry: [UInt8], to file: RecordFile, _ state: inout State) throws(Failure) {
    if let broken = state.broken { throw broken }
    guard state.length + entry.count <= RecordText.mostBytes else {
      throw Failure(.local, "the record of this upload has reached its maximum length")
    }
    do throws(Failure) {
      try file.write(entry)
    } catch {
      do throws(Failure) {
        try file.cut(to: state.length)
      } catch _ {
        state.broken = error
      }
      throw error
    }
    state.length += entry.count
  }
}
