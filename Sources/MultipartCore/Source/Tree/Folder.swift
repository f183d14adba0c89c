internal import CKernels
import Glibc
import MultipartBasics

/// An open directory: names are looked up in it, wherever its path leads later. Owns its descriptor (`open`, `openat`,
/// `close`), which stays open as long as a file that was found in it exists.
final class Folder: Sendable {
  /// The path, for messages.
  let path: FilePath
  private let descriptor: Int32
  private static let opened = Locked(0)

  /// The number of open folders in this process; each takes a descriptor.
  static var openCount: Int { opened.withLock { $0 } }

  private init(taking descriptor: Int32, _ path: FilePath) {
    self.descriptor = descriptor
    self.path = path
    Self.opened.withLock { $0 += 1 }
  }

  deinit {
    close(descriptor)
    Self.opened.withLock { $0 -= 1 }
  }

  /// Opens the folder at a path, following links. If it is not `listed`, names can be looked up in it even if it may
  /// not be read.
  convenience init(_ path: FilePath, shownAs shown: FilePath? = nil, listed: Bool = true) throws(Failure) {
    do throws(ErrorNumber) {
      self.init(taking: try Self.opened(path, listed: listed), shown ?? path)
    } catch {
      throw Self.unreadable(path, error.number)
    }
  }

  /// Opens the folder that files go into, following links.
  static func target(_ path: FilePath, shownAs shown: FilePath) throws(ErrorNumber) -> Folder {
    Folder(taking: try opened(path, listed: false), shown)
  }

  /// Opens a folder with files of this program.
  static func records(_ path: FilePath, followsLinks: Bool) throws(ErrorNumber) -> Folder {
    Folder(taking: try opened(path, listed: true, followsLinks: followsLinks), path)
  }

  /// Creates the folder at a path, and each missing one above it, and makes each durable in the one above it if that is
  /// possible.
  static func make(_ path: FilePath, mode: mode_t) throws(ErrorNumber) {
    guard path.status == nil else { return }
    let above = path.withoutSlashesAtEnd.folder
    try make(above, mode: mode)
    if path.withCString({ mkdir($0, mode) }) == 0 {
      try? target(above, shownAs: above).sync()
    } else if errno != EEXIST {
      throw ErrorNumber(errno)
    }
  }

  private static func opened(_ path: FilePath, listed: Bool, followsLinks: Bool = true) throws(ErrorNumber) -> Int32 {
    let flags = O_DIRECTORY | O_CLOEXEC | (listed ? O_RDONLY : pathOnly) | (followsLinks ? 0 : O_NOFOLLOW)
    let descriptor = path.withCString { Glibc.open($0, flags) }
    guard descriptor >= 0 else { throw ErrorNumber(errno) }
    return descriptor
  }

  /// O_PATH, which Glibc's module lacks; the same on all processors that Swift is made for.
  private static let pathOnly: Int32 = 0o10_000_000

  /// Opens the folder of this name in this one.
  func folder(_ name: [UInt8], followsLinks: Bool) throws(ErrorNumber) -> Folder {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)
    return Folder(taking: try open(name, flags), display(name))
  }

  /// Opens the folder that these names lead to, each one relative to the previous one, without following links.
  func folder(below names: some Sequence<[UInt8]>) throws(ErrorNumber) -> Folder {
    var folder = self
    for name in names { folder = try folder.folder(name, followsLinks: false) }
    return folder
  }

  /// Opens a file (`openat`); the caller closes it.
  func open(_ name: [UInt8], _ flags: Int32, mode: mode_t = 0) throws(ErrorNumber) -> Int32 {
    let opened = withCString(name) { openat(descriptor, $0, flags, mode) }
    guard opened >= 0 else { throw ErrorNumber(errno) }
    return opened
  }

  /// The status of a name (`fstatat`).
  func status(of name: [UInt8], followsLinks: Bool) throws(ErrorNumber) -> stat {
    var status = stat()
    let result = withCString(name) { fstatat(descriptor, $0, &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) }
    guard result == 0 else { throw ErrorNumber(errno) }
    return status
  }

  /// Creates a folder (`mkdirat`), with the mode that `umask` leaves.
  func makeFolder(_ name: [UInt8]) throws(ErrorNumber) {
    guard withCString(name, { mkdirat(descriptor, $0, 0o777) }) == 0 else { throw ErrorNumber(errno) }
  }

  /// Deletes a file (`unlinkat`).
  func delete(_ name: [UInt8]) throws(ErrorNumber) {
    guard withCString(name, { unlinkat(descriptor, $0, 0) }) == 0 else { throw ErrorNumber(errno) }
  }

  /// Deletes a file, if that is possible.
  func remove(_ name: [UInt8]) { try? delete(name) }

  /// Renames a file (`renameat`), replacing one that has the new name.
  func rename(_ name: [UInt8], to new: [UInt8]) throws(ErrorNumber) {
    let result = withCString(name) { from in withCString(new) { renameat(descriptor, from, descriptor, $0) } }
    guard result == 0 else { throw ErrorNumber(errno) }
  }

  /// Renames a file with `renameat2` and RENAME_NOREPLACE, or `linkat` and `unlinkat` where a file system does not
  /// support it: EEXIST if a file has the new name.
  func renameNew(_ name: [UInt8], to new: [UInt8]) throws(ErrorNumber) {
    let code = withCString(name) { from in withCString(new) { ck_rename_new(descriptor, from, $0) } }
    if code == 0 { return }
    guard code == EINVAL || code == ENOSYS else { throw ErrorNumber(code) }
    let linked = withCString(name) { from in withCString(new) { linkat(descriptor, from, descriptor, $0, 0) } }
    guard linked == 0 else { throw ErrorNumber(errno) }
    remove(name)
  }

  /// Makes changes in the folder durable (`fsync`), if the file system supports that and the folder may be read.
  func sync() throws(ErrorNumber) {
    if fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP { return }
    // One that is opened with O_PATH has to be opened for reading first.
    guard errno == EBADF else { throw ErrorNumber(errno) }
    guard let listed = try? open(Array(".".utf8), O_RDONLY | O_DIRECTORY | O_CLOEXEC) else { return }
    defer { close(listed) }
    guard fsync(listed) == 0 || errno == EINVAL || errno == ENOTSUP else { throw ErrorNumber(errno) }
  }

  /// The status of the folder itself (`fstat`).
  func status() throws(ErrorNumber) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw ErrorNumber(errno) }
    return status
  }

  /// Calls `body` with each name except `.` and `..`, and its `d_type` (`fdopendir`, `readdir`).
  func forEachName(_ body: (UnsafeBufferPointer<UInt8>, UInt8) -> Void) throws(ErrorNumber) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw ErrorNumber(errno) }
    guard let stream = fdopendir(copy) else {
      let error = errno
      close(copy)
      throw ErrorNumber(error)
    }
    defer { closedir(stream) }
    // The copy shares its position with the descriptor.
    rewinddir(stream)
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw ErrorNumber(errno) }
        return
      }
      let start = UnsafeRawPointer(entry) + Self.nameOffset
      let name = start.assumingMemoryBound(to: UInt8.self)
      let length = strlen(start.assumingMemoryBound(to: CChar.self))
      if name[0] == UInt8(ascii: "."), length == 1 || (length == 2 && name[1] == UInt8(ascii: ".")) { continue }
      body(UnsafeBufferPointer(start: name, count: length), entry.pointee.d_type)
    }
  }

  private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19

  /// The path of a name in the folder, for messages.
  func display(_ name: some Collection<UInt8>) -> FilePath { path.below(name) }

  private func withCString<Result>(_ name: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let name = FilePath.wholeOrTooLong(name)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: name.count + 1) { text in
      for (place, byte) in name.enumerated() { text[place] = CChar(bitPattern: byte) }
      text[name.count] = 0
      return body(UnsafePointer(text.baseAddress.unsafelyUnwrapped))
    }
  }

  static func unreadable(_ path: FilePath, _ error: Int32) -> Failure {
    if error == ENOTDIR {
      return Failure(.usage, "the source is not a folder", remedy: "name a folder").at(Place(file: path.text))
    }
    var failure = Failure.system(
      error == ENOMEM ? .local : .sourceMissing, error, "the folder cannot be read",
      remedy: error == ENOENT ? "check the folder's path" : error == EACCES ? "check that you may read the folder" : nil
    )
    if error == EMFILE {
      // Each folder on the current path is open, besides the files that are being sent.
      failure.remedy = "this process may not have enough files open for folders this deep: raise the limit (ulimit -n)"
    }
    return failure.at(Place(file: path.text))
  }
}

/// The `errno` of a system call.
struct ErrorNumber: Error, Equatable {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
  }
}
