import Glibc
import MultipartBasics

/// Prevents two runs from uploading to one destination: `flock` on a file beside the record. The kernel releases the lock
/// when the process ends; child processes do not inherit it (O_CLOEXEC).
///
/// Keep the value until you call `release`: Swift may end its life, and so the lock, after its last use.
final class RecordLock: Sendable {
  private let folder: RecordFolder
  private let name: String
  private let file: Locked<RecordFile?>
  /// When a run took the lock that was then killed; nil if the last run released it.
  let leftSince: Timestamp?

  private init(_ folder: RecordFolder, _ name: String, _ file: RecordFile, leftSince: Timestamp?) {
    self.folder = folder
    self.name = name
    self.leftSince = leftSince
    self.file = Locked(file)
  }

  deinit { release() }

  /// Takes the lock; nil if another run holds it.
  static func take(_ folder: RecordFolder, _ name: String) throws(Failure) -> RecordLock? {
    // Losing this often means that other runs keep taking the lock.
    for _ in 0..<1000 {
      guard let file = try folder.file(name, O_RDWR | O_CREAT) else { continue }
      switch try claim(file, folder, name) {
      case .busy:
        // Otherwise it was another run's question, which is over at once.
        if try isHeld(file) { return nil }
        usleep(1000)
      case .nameless: continue
      case .held:
        let left = file.notedSince()
        file.note(pid: getpid())
        return RecordLock(folder, name, file, leftSince: left)
      }
    }
    return nil
  }

  /// Whether a run holds the lock. The process id in the file does not tell: it may be that of a process which is gone,
  /// or is in another container.
  static func isHeld(_ folder: RecordFolder, _ name: String) throws(Failure) -> Bool {
    try folder.file(name, O_RDONLY).map { (file) throws(Failure) in try isHeld(file) } ?? false
  }

  /// Asks by a shared lock, which is released at once: it can be had beside others of its kind, but not beside a run's.
  private static func isHeld(_ file: RecordFile) throws(Failure) -> Bool {
    while flock(file.descriptor, LOCK_SH | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return true }
      guard errno == EINTR else { throw file.failure("cannot be locked") }
    }
    flock(file.descriptor, LOCK_UN)
    return false
  }

  enum Claim {
    case held, busy
    /// Releasing deletes the file. If that happened between our `open` and `flock`, our file has no name any more and
    /// locks no run out: the next one would create another file.
    case nameless
  }

  static func claim(_ file: RecordFile, _ folder: RecordFolder, _ name: String) throws(Failure) -> Claim {
    while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return .busy }
      guard errno == EINTR else { throw file.failure("cannot be locked") }
    }
    return folder.has(file, as: name) ? .held : .nameless
  }

  /// Whether its file still has its name: without it the lock locks no run out.
  var isNamed: Bool { file.withLock { file in file.map { folder.has($0, as: name) } ?? false } }

  /// Releases the lock; further calls do nothing.
  func release() {
    file.withLock { file in
      // Deleted while still locked, so that the name cannot yet refer to another run's file.
      if let held = file, folder.has(held, as: name) { folder.unlink(name) }
      file = nil
    }
  }
}

extension RecordFile {
  /// Writes the process id, for messages only: the lock works without it, for example on a full disk.
  fileprivate func note(pid: pid_t) {
    let text = Array("\(pid)\n".utf8)
    guard ftruncate(descriptor, 0) == 0 else { return }
    pwrite(descriptor, text, text.count, 0)
  }

  /// When a process id was written into the file; nil for a new file.
  fileprivate func notedSince() -> Timestamp? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
    return Timestamp(seconds: Int64(status.st_mtim.tv_sec))
  }

  /// The process that wrote its id, if it still exists.
  func notedPid() throws(Failure) -> pid_t? {
    let text = String(decoding: try read(most: 32), as: UTF8.self)
    guard text.last == "\n", let pid = pid_t(text.dropLast()), pid > 0 else { return nil }
    return kill(pid, 0) == 0 || errno == EPERM ? pid : nil
  }
}
