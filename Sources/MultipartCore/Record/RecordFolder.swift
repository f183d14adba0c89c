import Glibc

/// An open folder with files of s3up. Names are looked up relative to its descriptor (`openat`, `renameat`, `unlinkat`),
/// so that the folder that was checked is the one that is used. Closed in `deinit`.
///
/// The mode of existing folders and files of others is never changed: people or programs may share the state folder. Only
/// what is created here is private.
final class RecordFolder: Sendable {
  private let path: String
  private let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// s3up's own folder within the state folder.
  static func own(in folder: String) -> String { folder + "/" + ownName }
  static let ownName = "uploads"

  /// Opens one of s3up's own folders; nil if it does not exist.
  static func open(_ path: String) throws(Failure) -> RecordFolder? {
    guard let folder = try at(path, O_NOFOLLOW) else { return nil }
    try folder.check()
    return folder
  }

  /// Opens the state folder, whoever owns it; nil if it does not exist.
  static func at(_ path: String, _ flags: Int32 = 0) throws(Failure) -> RecordFolder? {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw StateFolder.failure(path, "cannot be opened")
    }
    return RecordFolder(path: path, descriptor: descriptor)
  }

  /// The folder for files other than records: the state folder if only this user can write there, else s3up's own
  /// folder within it. In a folder that other users can write, they could replace our file.
  static func home(in path: String) throws(Failure) -> RecordFolder? {
    guard let folder = try at(path) else { return nil }
    return try folder.strangers() == nil ? folder : open(own(in: path))
  }

  /// The folder of `home`, created if it does not exist.
  static func makeHome(in path: String) throws(Failure) -> RecordFolder {
    try StateFolder.make(path)
    guard let folder = try at(path) else { throw StateFolder.failure(path, "cannot be created") }
    return try folder.strangers() == nil ? folder : make(own(in: path))
  }

  static func make(_ path: String) throws(Failure) -> RecordFolder {
    if let folder = try open(path) { return folder }
    try StateFolder.make(path)
    guard let folder = try open(path) else { throw StateFolder.failure(path, "cannot be created") }
    return folder
  }

  private func check() throws(Failure) {
    guard let why = try strangers() else { return }
    throw Failure(
      .configuration, "the folder of this program's state \(why)",
      remedy: "name another \(.stateFolder), or make the folder yours alone (chown, chmod 700)"
    ).at(Place(file: path))
  }

  /// Why other users can create and replace files in it (`fstat`); nil if they cannot. Root must not trust another
  /// user's files either, because they could point anywhere.
  private func strangers() throws(Failure) -> String? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw StateFolder.failure(path, "cannot be opened") }
    if status.st_uid != geteuid() { return "belongs to another user" }
    return status.st_mode & 0o022 == 0 ? nil : "can be written by other users"
  }

  /// Opens a file; nil if it does not exist. O_NONBLOCK, because a named pipe in its place would block.
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

  /// Creates a file that is complete and durable before it replaces an older one of this name; open for appending.
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

  /// Creates a file that is complete and durable before it gets its name (`linkat`). An existing file stays.
  func create(_ name: String, with bytes: [UInt8]) throws(Failure) {
    let (temporary, file) = try newFile(beside: name)
    defer { unlinkat(descriptor, temporary, 0) }
    try file.write(bytes)
    try file.sync()
    guard linkat(descriptor, temporary, descriptor, name, 0) == 0 || errno == EEXIST else {
      throw file.failure("cannot be named")
    }
    try sync()
  }

  /// Deletes a file durably; not an error if it does not exist.
  func remove(_ name: String) throws(Failure) {
    guard unlinkat(descriptor, name, 0) == 0 else {
      if errno == ENOENT { return }
      throw StateFolder.failure(place(name), "cannot be removed")
    }
    try sync()
  }

  /// Deletes a lock file, which need not be durable.
  func unlink(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Whether the name still refers to this file.
  func has(_ file: RecordFile, as name: String) -> Bool {
    var (here, there) = (stat(), stat())
    guard fstat(file.descriptor, &here) == 0, fstatat(descriptor, name, &there, AT_SYMLINK_NOFOLLOW) == 0 else {
      return false
    }
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino
  }

  func names() throws(Failure) -> [String] {
    // A second descriptor, because reading a folder moves the offset.
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

  /// Makes the folder durable (`fsync`): otherwise a power cut could undo a rename. Some network file systems do not
  /// support it for folders (EINVAL).
  private func sync() throws(Failure) {
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw StateFolder.failure(path, "cannot be made durable")
    }
  }

  // MARK: New files

  /// The most temporary files for one name at the same time.
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
    throw StateFolder.failure(place(name), "cannot be created")
  }

  /// Deletes a temporary file that is an hour old: its run was killed, because writing never takes that long.
  private func removeAbandoned(_ temporary: String) {
    var status = stat()
    guard fstatat(descriptor, temporary, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mtim.tv_sec < time(nil) - 3600
    else { return }
    unlinkat(descriptor, temporary, 0)
  }

  /// Deletes temporary files of this name that killed runs left behind. The caller must hold the name's lock.
  func removeLeftovers(beside name: String) {
    for number in Self.newFiles { unlinkat(descriptor, Self.temporary(name, number), 0) }
  }

  private static func temporary(_ name: String, _ number: Int) -> String { "\(name).new\(number)" }
}
