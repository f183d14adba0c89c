import Glibc

/// Keeps two runs off one destination: `flock` on a file beside the record. The kernel takes the lock away with the
/// process, however it ends; a program that this one starts does not inherit it (O_CLOEXEC).
///
/// Keep it and end it with `release`: the last mention of a value ends its life, and the lock with it.
package final class RecordLock: Sendable {
  private let folder: RecordFolder
  private let name: String
  private let file: Locked<RecordFile?>
  /// When a run took the lock that was killed and so never let it go; nil where the last one ended in order.
  package let leftSince: Timestamp?

  private init(_ folder: RecordFolder, _ name: String, _ file: RecordFile, leftSince: Timestamp?) {
    self.folder = folder
    self.name = name
    self.leftSince = leftSince
    self.file = Locked(file)
  }

  deinit { release() }

  /// Nil when somebody holds it.
  static func take(_ folder: RecordFolder, _ name: String) throws(Failure) -> RecordLock? {
    // Who loses so often has somebody else to wait for.
    for _ in 0..<100 {
      guard let file = try folder.file(name, O_RDWR | O_CREAT) else { continue }
      switch try claim(file, folder, name) {
      case .busy: return nil
      case .nameless: continue
      case .held:
        let left = file.notedSince()
        file.note(pid: getpid())
        return RecordLock(folder, name, file, leftSince: left)
      }
    }
    return nil
  }

  enum Claim {
    case held, busy
    /// Who lets go removes the file. When that was between our `open` and our `flock`, the file that we hold has no
    /// name any more and keeps nobody off: the next one opens another.
    case nameless
  }

  static func claim(_ file: RecordFile, _ folder: RecordFolder, _ name: String) throws(Failure) -> Claim {
    while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return .busy }
      guard errno == EINTR else { throw file.failure("cannot be locked") }
    }
    return folder.has(file, as: name) ? .held : .nameless
  }

  /// Lets go; a second time does nothing.
  package func release() {
    file.withLock { file in
      // While it is still locked, so that the name is nobody else's file.
      if let held = file, folder.has(held, as: name) { folder.unlink(name) }
      file = nil
    }
  }
}

extension RecordFile {
  /// For messages only: the lock holds without it, on a full disk too.
  fileprivate func note(pid: pid_t) {
    let text = Array("\(pid)\n".utf8)
    guard ftruncate(descriptor, 0) == 0 else { return }
    pwrite(descriptor, text, text.count, 0)
  }

  /// When somebody noted himself in it; nil for a new file.
  fileprivate func notedSince() -> Timestamp? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
    return Timestamp(seconds: Int64(status.st_mtim.tv_sec))
  }

  /// Who wrote it, while there is such a process.
  func notedPid() throws(Failure) -> pid_t? {
    let text = String(decoding: try read(most: 32), as: UTF8.self)
    guard text.last == "\n", let pid = pid_t(text.dropLast()), pid > 0 else { return nil }
    return kill(pid, 0) == 0 || errno == EPERM ? pid : nil
  }
}
