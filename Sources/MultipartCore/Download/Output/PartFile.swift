internal import CKernels
import Glibc
import MultipartBasics

/// The file that becomes the target: next to it, so that a rename publishes it, of full length from the beginning, for
/// this user only, and locked (`flock`) against every other run, whatever its state folder is. Its name is derived from
/// the target's, so that a killed run leaves at most one file, which the next run takes over.
final class PartFile: Sendable {
  private let folder: Folder
  let name: [UInt8]
  let descriptor: Int32
  /// Whether an earlier run has left it, with its bytes.
  let wasLeft: Bool
  /// Whether this run has created it.
  private let isNew: Bool
  /// The target's path, for messages.
  private let path: FilePath

  private init(_ target: DownloadTarget, _ name: [UInt8], _ descriptor: Int32, isNew: Bool) {
    (folder, path, self.name, self.descriptor, self.isNew) = (target.folder, target.path, name, descriptor, isNew)
    var status = stat()
    wasLeft = fstat(descriptor, &status) == 0 && status.st_size > 0
  }

  /// The failure of a run to which another one is ahead.
  static func isTaken(_ target: DownloadTarget) -> Failure {
    Failure(.locked, "another run is downloading to this file", remedy: "wait for it to end")
      .at(Place(file: target.path.text))
  }

  private static func isOccupied(_ path: FilePath) -> Failure {
    Failure(
      .precondition,
      "the place of the download's part file is taken by a link, a folder, a device or another user's file",
      remedy: "move away what is there, or name another target"
    ).at(Place(file: path.text))
  }

  deinit { close(descriptor) }

  private static let ending = Array(".s3up-part".utf8)

  /// Whether a file of this name would be taken for a part file.
  static func isName(_ name: some Collection<UInt8>) -> Bool {
    name.first == UInt8(ascii: ".") && name.suffix(ending.count).elementsEqual(ending)
  }

  private static func name(for target: [UInt8]) throws(Failure) -> [UInt8] {
    let mark = Hex.encode(try Digest.sha256(target).prefix(4))
    return [UInt8(ascii: ".")] + target.prefix(200) + Array(".\(mark)".utf8) + ending
  }

  /// Creates the file, or opens the one that exists (`openat`).
  private static func opened(
    _ name: [UInt8], in folder: Folder
  ) throws(ErrorNumber) -> (descriptor: Int32, isNew: Bool) {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    do throws(ErrorNumber) {
      return (try folder.open(name, flags | O_EXCL, mode: 0o600), true)
    } catch {
      guard error.number == EEXIST else { throw error }
      return (try folder.open(name, flags, mode: 0o600), false)
    }
  }

  /// Opens the file and locks it (`flock`), creating it if it does not exist. What is in its place and is not
  /// a file of this user is left alone, and of a file with other names only this name is removed.
  static func open(for target: DownloadTarget) throws(Failure) -> PartFile {
    let (folder, name) = (target.folder, try name(for: target.name))
    let path = folder.display(name)
    for _ in 0..<100 {
      let (descriptor, isNew): (Int32, Bool)
      do throws(ErrorNumber) {
        (descriptor, isNew) = try opened(name, in: folder)
      } catch {
        let isThere = (try? folder.status(of: name, followsLinks: false)) != nil
        if isThere, [ELOOP, EISDIR, ENXIO, EACCES].contains(error.number) { throw isOccupied(path) }
        throw DownloadTarget.failure(error.number, "the target's folder cannot be written", folder.path)
      }
      let file = PartFile(target, name, descriptor, isNew: isNew)
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        guard errno != EWOULDBLOCK else { throw isTaken(target) }
        guard errno == EINTR else { throw DownloadTarget.failure(errno, "the part file cannot be locked", path) }
      }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
        throw isOccupied(path)
      }
      // The run that held the lock may have renamed or removed the file since it was opened here.
      guard let named = try? folder.status(of: name, followsLinks: false), Inode(named) == Inode(status) else {
        continue
      }
      // Its other names may be those of a copy (`cp -al`), or of a file that nobody wants written.
      guard status.st_nlink <= 1 else {
        folder.remove(name)
        if file.isThere { throw isOccupied(path) }
        continue
      }
      fchmod(descriptor, 0o600)
      return file
    }
    throw Failure(.locked, "other runs keep downloading to this file").at(Place(file: target.path.text))
  }

  /// A part file without the bytes of an earlier run. One that exists is not truncated but replaced: on some network
  /// file systems the lock of a run on another machine does not show, and that run may still be writing. It finds that
  /// the name leads to another file, and publishes nothing.
  func emptied(for target: DownloadTarget) throws(Failure) -> PartFile {
    guard !isNew else { return self }
    remove()
    guard !isThere else { throw DownloadTarget.failure(EACCES, "the target's folder cannot be written", folder.path) }
    return try Self.open(for: target)
  }

  /// Whether a piece of the file's first bytes was never written (`lseek`): another program has truncated it, and what
  /// was written after that has made it longer again. Some file systems also call zeros that were written a hole.
  func hasHole(before size: Int64) -> Bool {
    // The file is read from the descriptor's offset.
    defer { lseek(descriptor, 0, SEEK_SET) }
    let hole = Int64(lseek(descriptor, 0, Self.seekHole))
    // An empty file has none to find, and not every file system looks for them.
    return hole < 0 ? identity.map { $0.size < size } ?? true : hole < size
  }

  /// Linux's SEEK_HOLE, which the C library defines only for GNU sources.
  private static let seekHole: Int32 = 4

  /// Gives the file its length, with its blocks if the file system can (`fallocate`), so that a full disk shows at
  /// once.
  func prepare(_ size: Int64) throws(Failure) {
    // Beyond this limit the kernel ends the process with a signal.
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, UInt64(size) > UInt64(limit.rlim_cur) {
      throw Failure(
        .local, "no file may be longer than \(limit.rlim_cur) bytes here, and the object has \(size)",
        remedy: "raise the limit: ulimit -f"
      )
      .at(Place(file: path.text))
    }
    let code = ck_allocate(descriptor, size)
    guard [0, EOPNOTSUPP, ENOSYS, EINVAL].contains(code) else {
      throw DownloadTarget.failure(code, "the file cannot be made as long as the object", path)
    }
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw failure("cannot be made as long as the object") }
  }

  /// Writes the bytes (`pwrite`).
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Failure? {
    var done = 0
    while done < bytes.count {
      let count = pwrite(
        descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return failure("cannot be written") }
      done += count
    }
    return nil
  }

  /// The checksums of the bytes on disk; nil if they cannot be read.
  func sum(_ algorithms: Set<ChecksumAlgorithm>, _ offset: Int64, _ length: Int64) -> [ChecksumAlgorithm: Checksum]? {
    guard var sums = try? MultiChecksum(algorithms) else { return nil }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var done: Int64 = 0
    while done < length {
      let wanted = Int(min(Int64(buffer.count), length - done))
      let count = pread(descriptor, &buffer, wanted, off_t(offset + done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      buffer.withUnsafeBytes { sums.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      done += Int64(count)
    }
    return try? sums.finish()
  }

  /// The file for reading it once more, by its descriptor.
  func source() throws(Failure) -> SourceFile {
    guard let source = try SourceFile(open: descriptor, name: path) else { throw failure("cannot be read") }
    return source
  }

  func sync() throws(Failure) {
    guard fsync(descriptor) == 0 else { throw failure("cannot be made durable") }
  }

  /// Whether its name still leads to it (`fstat`, `fstatat`).
  var isThere: Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0, let named = try? folder.status(of: name, followsLinks: false) else {
      return false
    }
    return Inode(named) == Inode(status)
  }

  /// The path of what an earlier run has left for a target.
  static func left(for target: DownloadTarget) -> FilePath? {
    guard let name = try? name(for: target.name),
      (try? target.folder.status(of: name, followsLinks: false)) != nil
    else { return nil }
    return target.folder.display(name)
  }

  /// Removes what a killed run has left for a target that is complete without it. Returns whether there was anything.
  static func discard(for target: DownloadTarget) -> Bool {
    guard left(for: target) != nil, let file = try? open(for: target) else { return false }
    file.remove()
    return true
  }

  func remove() { if isThere { folder.remove(name) } }

  /// UTIME_OMIT, which Glibc's module lacks.
  private static let omitted = (1 << 30) - 2

  /// Sets the modification time (`futimens`), unless the file system cannot store it.
  func set(_ time: FileTime) {
    var times = [timespec(tv_sec: 0, tv_nsec: Self.omitted), timespec(time)]
    _ = futimens(descriptor, &times)
  }

  /// The current identity of the file.
  var identity: FileIdentity? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? FileIdentity(status) : nil
  }

  private func failure(_ what: String) -> Failure { DownloadTarget.failure(errno, "the file \(what)", path) }
}

extension timespec {
  fileprivate init(_ time: FileTime) { self.init(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds)) }
}
