import Glibc
import MultipartBasics

/// A regular file, open for reading and shared by all transfers.
///
/// After `init` only what was learned about the file changes here; the bytes in the file may change, so its identity is
/// checked.
final class SourceFile: Sendable {
  private enum Door: Sendable {
    /// Opened by its path, which must refer to it until the end.
    case name
    /// Opened by its name in a folder, which must refer to it until the end.
    case entry(TreeFile, followsLinks: Bool)
    /// It was already open; it may have been renamed or deleted.
    case descriptor
  }

  private struct State {
    /// The file's identity when its bytes were last known to be those that are sent.
    var compared: FileIdentity
    /// The SHA-256 of the whole source, if a caller relies on it.
    var promised: Checksum?
    var canBeMapped: Bool?
  }

  let path: FilePath
  let identity: FileIdentity
  let descriptor: Int32
  /// The position of the source's first byte: for a file that was already open, its offset.
  let start: Int64
  private let door: Door
  private let state: Locked<State>
  /// Computes the SHA-256 of its slices.
  let desk = SumDesk()

  var size: Int64 { identity.size }

  /// Whether the file can be mapped; otherwise it is read. Determined when it is first needed: a small file that is
  /// read at once is never mapped.
  var canBeMapped: Bool {
    state.withLock { state in
      let canBeMapped = state.canBeMapped ?? FileWindow.canMap(descriptor)
      state.canBeMapped = canBeMapped
      return canBeMapped
    }
  }

  /// Opens without waiting (O_NONBLOCK), because a named pipe may have no writer.
  private static let opening = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY

  /// Opens the file by its path (`open`, `fstat`). Directories and other files that are not regular are refused as
  /// wrong usage.
  convenience init(_ path: FilePath) throws(Failure) {
    let descriptor = path.withCString { open($0, Self.opening) }
    guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
    try self.init(taking: descriptor, path, .name)
  }

  /// Opens the file in its folder (`openat`, `fstat`). A link that has taken the file's place is refused, unless links
  /// are followed.
  convenience init(_ file: TreeFile, followsLinks: Bool) throws(Failure) {
    let descriptor: Int32
    do throws(ErrorNumber) {
      descriptor = try file.folder.open(file.name, Self.opening | (followsLinks ? 0 : O_NOFOLLOW))
    } catch {
      guard error.number != ELOOP || followsLinks else {
        throw Failure(.sourceMissing, "a symbolic link has taken the file's place").at(Place(file: file.display.text))
      }
      throw Self.unreadable(file.display, error.number)
    }
    try self.init(taking: descriptor, file.display, .entry(file, followsLinks: followsLinks))
  }

  private init(taking descriptor: Int32, _ path: FilePath, _ door: Door) throws(Failure) {
    do throws(Failure) {
      let status = try Self.status(of: descriptor, path, door)
      guard Self.saysHowLong(status, descriptor, from: 0) else { throw Self.lengthless(path) }
      identity = FileIdentity(status)
      state = Locked(State(compared: identity))
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
    self.door = door
    start = 0
  }

  /// The file of an open descriptor, from its offset to its end; nil if it is not a regular file or does not report its
  /// size, and must be read as a stream. `name` is for messages.
  init?(open given: Int32, name: FilePath) throws(Failure) {
    var status = stat()
    guard fstat(given, &status) == 0 else { throw Self.unreadable(name, errno) }
    let kind = status.st_mode & S_IFMT
    if kind == S_IFDIR { throw Self.unreadable(name, EISDIR) }
    try StreamInput.refuseWriteOnly(given, status, name: name.text)
    guard kind == S_IFREG else { return nil }
    let position = lseek(given, 0, SEEK_CUR)
    guard position >= 0, Self.saysHowLong(status, given, from: Int64(position)) else { return nil }
    // At least 3: lower numbers belong to the standard streams, open or not.
    let copy = fcntl(given, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw Self.unreadable(name, errno) }
    descriptor = copy
    path = name
    start = Int64(position)
    door = .descriptor
    identity = FileIdentity(status, from: start)
    state = Locked(State(compared: identity))
  }

  deinit { close(descriptor) }

  /// Throws if the file has changed since the start: by its descriptor (rewritten in place, truncated, grown) and by
  /// its path (replaced by another file). A touched file is handled by `confirm`.
  func checkUnchanged() throws(Failure) {
    _ = try unchanged()
  }

  /// Whether the bytes are known to be those that were compared last: the file has not even been touched since. Throws
  /// if it has changed.
  func isUntouched() throws(Failure) -> Bool {
    let now = try unchanged()
    return state.withLock { $0.compared == now }
  }

  /// The file's current identity, which differs from the former one at most in its ctime.
  private func unchanged() throws(Failure) -> FileIdentity {
    let named = namedStatus.map { FileIdentity($0) }
    // It is the same file, so its descriptor would add nothing.
    if let named, state.withLock({ $0.compared == named }) { return named }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.unreadable(path, errno) }
    let now = FileIdentity(status, from: start)
    if let change = identity.change(to: now) { throw changed(change) }
    if case .descriptor = door { return now }
    guard let named else { throw changed("was removed or renamed") }
    if let change = identity.change(to: named) { throw changed(change) }
    return now
  }

  /// The status of the file that the name leads to now, if there is one.
  private var namedStatus: stat? {
    var status = stat()
    switch door {
    case .name: return path.withCString { stat($0, &status) } == 0 ? status : nil
    case .entry(let file, let followsLinks):
      return try? file.folder.status(of: file.name, followsLinks: followsLinks)
    case .descriptor: return nil
    }
  }

  /// Moves the given descriptor to the end, as if it had been read.
  func leaveAtEnd() {
    if case .descriptor = door { _ = lseek(descriptor, off_t(start) + off_t(size), SEEK_SET) }
  }

  func changed(_ what: String) -> Failure {
    var failure = Failure(
      .sourceChanged, "the file \(what) while it was read", remedy: "run it again when nothing writes to the file")
    failure.place.file = path.text
    return failure
  }

  /// Fills the buffer with `pread`. If the file ends before that, it was truncated.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(start) + off_t(offset) + off_t(done))
      if count > 0 {
        done += count
      } else if count == 0 {
        throw shrunk
      } else if errno != EINTR {
        throw unreadable(errno)
      }
    }
  }

  private var shrunk: Failure { changed("shrank") }

  /// Throws if the file ends before this position.
  func checkReaches(_ position: Int64) throws(Failure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.unreadable(path, errno) }
    if Int64(status.st_size) < start + position { throw shrunk }
  }

  /// Why a mapping of the byte at `position` had no page; reading it gives the reason.
  func unreadable(at position: Int64) -> Failure {
    var byte: UInt8 = 0
    do throws(Failure) {
      try withUnsafeMutableBytes(of: &byte) { (buffer) throws(Failure) in try read(into: buffer, at: position) }
      return unreadable(EIO)
    } catch {
      return error
    }
  }

  func unreadable(_ error: Int32) -> Failure { Self.unreadable(path, error) }
}

extension SourceFile {
  // MARK: - Rewritten with restored times

  /// Records the SHA-256 of the whole source, because the caller relies on it.
  func promise(_ sha256: Checksum) {
    state.withLock { $0.promised = sha256 }
  }

  /// Throws if the file is no longer what was sent. If it was touched since the bytes were last compared, `compare`
  /// computes their checksums again and returns whether they match; this is repeated until the file is not touched
  /// during the comparison. It gives up after the third time, because then the file is being worked on.
  func confirm(
    unless isStopped: () -> Bool, _ compare: () throws(Failure) -> Bool
  ) throws(Failure) {
    for _ in 1...3 {
      let now = try unchanged()
      guard now != state.withLock({ $0.compared }) else { return }
      guard try compare(), try keepsPromise(unless: isStopped) else { throw changed("was rewritten") }
      state.withLock { $0.compared = now }
    }
    guard try isUntouched() else { throw changed("was changed again and again") }
  }

  private func keepsPromise(unless isStopped: () -> Bool) throws(Failure) -> Bool {
    guard let wanted = state.withLock({ $0.promised }) else { return true }
    return try PartSlice(file: self, offset: 0, length: size).checksums([.sha256], unless: isStopped)[.sha256] == wanted
  }
}

extension SourceFile {
  // MARK: - Which files can be a source

  private static func status(of descriptor: Int32, _ path: FilePath, _ door: Door) throws(Failure) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
    switch (status.st_mode & S_IFMT, door) {
    case (S_IFREG, _): return status
    // It was a file when its folder was read.
    case (_, .entry):
      throw Failure(
        .sourceChanged, "something else has taken the file's place", remedy: "run the same command again"
      ).at(Place(file: path.text))
    case (S_IFDIR, _):
      throw Failure(.usage, "the source is a directory", remedy: "name a file").at(Place(file: path.text))
    default: throw Failure(.usage, "the source is not a regular file", remedy: "name a file").at(Place(file: path.text))
    }
  }

  /// Whether the file reports its length. Files in `/proc` report a size of zero but have contents: they would be
  /// published empty.
  private static func saysHowLong(_ status: stat, _ descriptor: Int32, from start: Int64) -> Bool {
    guard Int64(status.st_size) <= start else { return true }
    var byte: UInt8 = 0
    return pread(descriptor, &byte, 1, off_t(start)) == 0
  }

  private static func lengthless(_ path: FilePath) -> Failure {
    Failure(
      .sourceMissing, "the source does not say how long it is", remedy: "copy it into a regular file and upload that"
    ).at(Place(file: path.text))
  }

  private static func unreadable(_ path: FilePath, _ error: Int32) -> Failure {
    .system(
      .sourceMissing, error, "the source cannot be read",
      remedy: [ENOENT, ENOTDIR].contains(error) ? path.whySourceMissing : "check that you may read the file"
    ).at(Place(file: path.text))
  }
}
