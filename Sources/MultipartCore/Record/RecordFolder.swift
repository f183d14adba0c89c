import Glibc

/// An open folder of s3up's files. Each name is looked up below its descriptor (`openat`, `renameat`, `unlinkat`), so
/// that the folder that was checked is the folder that is used. Closed in `deinit`.
///
/// Nobody's mode is ever changed: the state folder may be one that people share, and what is in it may be other
/// programs'. Only what is made here is made private.
final class RecordFolder: Sendable {
  private let path: String
  private let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// The one in the state folder that is s3up's own.
  static func own(in folder: String) -> String { folder + "/uploads" }

  /// One of our own; nil when it is not there.
  static func open(_ path: String) throws(Failure) -> RecordFolder? {
    guard let folder = try at(path, O_NOFOLLOW) else { return nil }
    try folder.check()
    return folder
  }

  /// The state folder as it is, whoever made it; nil when it is not there.
  static func at(_ path: String, _ flags: Int32 = 0) throws(Failure) -> RecordFolder? {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw StateFolder.failure(path, "cannot be opened")
    }
    return RecordFolder(path: path, descriptor: descriptor)
  }

  /// Where the files lie that are not records: in the state folder where this user alone can write in it, else in our
  /// own one in it. In a folder that others write in, they could put one file of ours in the place of another.
  static func home(in path: String) throws(Failure) -> RecordFolder? {
    guard let folder = try at(path) else { return nil }
    return try folder.strangers() == nil ? folder : open(own(in: path))
  }

  /// The same, made when it is not there.
  static func makeHome(in path: String) throws(Failure) -> RecordFolder {
    try StateFolder.make(path)
    guard let folder = try at(path) else { throw StateFolder.failure(path, "cannot be made") }
    return try folder.strangers() == nil ? folder : make(own(in: path))
  }

  static func make(_ path: String) throws(Failure) -> RecordFolder {
    if let folder = try open(path) { return folder }
    try StateFolder.make(path)
    guard let folder = try open(path) else { throw StateFolder.failure(path, "cannot be made") }
    return folder
  }

  private func check() throws(Failure) {
    guard let why = try strangers() else { return }
    throw Failure(
      .configuration, "the folder of s3up's own state \(why)",
      remedy: "name another \(.stateFolder), or make the folder yours alone (chown, chmod 700)"
    ).at(Place(file: path))
  }

  /// How it is that others than this user can make and replace files in it (`fstat`); nil when they cannot. Who runs as
  /// root does not believe what another user wrote: it could lead to anything.
  private func strangers() throws(Failure) -> String? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw StateFolder.failure(path, "cannot be opened") }
    if status.st_uid != geteuid() { return "belongs to another user" }
    return status.st_mode & 0o022 == 0 ? nil : "can be written by other users"
  }

  /// Nil when there is none. O_NONBLOCK: a pipe in the file's place must not be waited for.
  func file(_ name: String, _ flags: Int32) throws(Failure) -> RecordFile? {
    let opened = openat(descriptor, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600)
    guard opened >= 0 else {
      switch errno {
      case ENOENT where flags & O_CREAT == 0: return nil
      case ELOOP, EISDIR, ENXIO: throw RecordFile.foreign(place(name), "is not a plain file")
      default: throw StateFolder.failure(place(name), "cannot be opened")
      }
    }
    let file = RecordFile(descriptor: opened, path: place(name))
    try file.check()
    return file
  }

  /// A new file, durable and whole before it takes the name and the place of an older one, open for more at its end.
  func replace(_ name: String, with bytes: [UInt8]) throws(Failure) -> RecordFile {
    let (temporary, file) = try newFile(beside: name)
    do throws(Failure) {
      try file.write(bytes)
      try file.sync()
      guard renameat(descriptor, temporary, descriptor, name) == 0 else { throw file.failure("cannot be renamed") }
    } catch {
      unlinkat(descriptor, temporary, 0)
      throw error
    }
    try sync()
    return file
  }

  /// Gone for good; no error when it was not there.
  func remove(_ name: String) throws(Failure) {
    guard unlinkat(descriptor, name, 0) == 0 else {
      if errno == ENOENT { return }
      throw StateFolder.failure(place(name), "cannot be removed")
    }
    try sync()
  }

  /// For a lock's file, which nothing depends on after a power cut.
  func unlink(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Whether the name still stands for this file.
  func has(_ file: RecordFile, as name: String) -> Bool {
    var (here, there) = (stat(), stat())
    guard fstat(file.descriptor, &here) == 0, fstatat(descriptor, name, &there, AT_SYMLINK_NOFOLLOW) == 0 else {
      return false
    }
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino
  }

  func names() throws(Failure) -> [String] {
    // A descriptor of its own, because reading moves its place.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw StateFolder.failure(path, "cannot be read") }
    guard let stream = fdopendir(copy) else {
      let problem = StateFolder.failure(path, "cannot be read")
      close(copy)
      throw problem
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { name in
          String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    return names.sorted()
  }

  func place(_ name: String) -> String { path + "/" + name }

  /// `fsync`, without which a power cut can undo a rename. Some network file systems have none for folders (EINVAL).
  private func sync() throws(Failure) {
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw StateFolder.failure(path, "cannot be made durable")
    }
  }

  // MARK: New files

  /// So many can be in the making for one name.
  private static let newFiles = 0..<16

  private func newFile(beside name: String) throws(Failure) -> (String, RecordFile) {
    for number in Self.newFiles {
      let temporary = Self.temporary(name, number)
      removeAbandoned(temporary)
      let flags = O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW
      let opened = openat(descriptor, temporary, flags, 0o600)
      if opened >= 0 { return (temporary, RecordFile(descriptor: opened, path: place(name))) }
      guard errno == EEXIST else { break }
    }
    throw StateFolder.failure(place(name), "cannot be made")
  }

  /// A run was killed an hour ago or more while it made this file: nothing takes so long.
  private func removeAbandoned(_ temporary: String) {
    var status = stat()
    guard fstatat(descriptor, temporary, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mtim.tv_sec < time(nil) - 3600
    else { return }
    unlinkat(descriptor, temporary, 0)
  }

  /// What runs left that were killed while they made a new file of this name. Only for who holds the name's lock.
  func removeLeftovers(beside name: String) {
    for number in Self.newFiles { unlinkat(descriptor, Self.temporary(name, number), 0) }
  }

  private static func temporary(_ name: String, _ number: Int) -> String { "\(name).new\(number)" }
}
