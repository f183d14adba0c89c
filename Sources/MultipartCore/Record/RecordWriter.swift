import Glibc

/// When lines are made durable: at once after a quiet second, else at most each second, or when so much was sent that
/// it would hurt to send it again. A process that is killed loses nothing either way; this is for power cuts.
struct FlushPace: Sendable {
  static let interval = Duration.seconds(1)
  static let mostBytes: Int64 = 64 << 20

  private var last: Duration?
  private var waiting: Int64 = 0

  /// Whether it is time after a part of `size`.
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

/// The record of a running upload, open at its end. After `remove` it takes what still comes and forgets it.
package final class RecordWriter: Sendable {
  private struct State: Sendable {
    /// Nil once the record is removed.
    var file: RecordFile?
    var length: Int
    var pace = FlushPace()
    /// The end of the file is not a whole line and could not be cut off: what follows would not be read.
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

  /// One `write` of one line, and `fdatasync` when it is time by `now`, a clock that only goes forward. When it throws,
  /// the earlier lines are as they were, and the next part may succeed again.
  package func append(_ part: UploadRecord.Part, now: Duration) throws(Failure) {
    let line = try RecordText.line(part, seed: seed)
    try state.withLock { (state) throws(Failure) -> Void in
      guard let file = state.file else { return }
      try Self.write(line, to: file, &state)
      guard state.pace.isDue(after: part.size, now: now) else { return }
      // Marked first: a disk that cannot is not asked for each part.
      state.pace.flushed(now: now)
      try file.sync()
    }
  }

  /// `fdatasync`
  package func flush() throws(Failure) {
    try state.withLock { (state) throws(Failure) -> Void in
      guard let file = state.file else { return }
      try file.sync()
      state.pace.flushed(now: nil)
    }
  }

  /// Removes the record, for good before it returns; not when another run has put its own in the place.
  package func remove() throws(Failure) {
    try state.withLock { (state) throws(Failure) -> Void in
      guard let file = state.file else { return }
      if folder.has(file, as: name) { try folder.remove(name) }
      state.file = nil
    }
  }

  private static func write(_ line: [UInt8], to file: RecordFile, _ state: inout State) throws(Failure) {
    if let broken = state.broken { throw broken }
    guard state.length + line.count <= RecordText.mostBytes else {
      throw Failure(.local, "the record of this upload is as long as it may be")
    }
    do throws(Failure) {
      try file.write(line)
    } catch {
      do throws(Failure) {
        try file.cut(to: state.length)
      } catch _ {
        state.broken = error
      }
      throw error
    }
    state.length += line.count
  }
}
