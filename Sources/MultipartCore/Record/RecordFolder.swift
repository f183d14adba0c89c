import Glibc

/// An open folder with files of s3up: the folder that was checked is the one that is used.
///
/// The mode of existing folders and files of others is never changed: people or programs may share the state folder. Only
/// what is created here is private.
final class RecordFolder: Sendable {
  private let path: String
  private let folder: Folder

  private init(path: String, _ folder: Folder) {
    self.path = path
    self.folder = folder
  }

  /// s3up's own folder within the state folder.
  static func own(in folder: String) -> String { folder + "/" + ownName }
  static let ownName = "uploads"

  /// Opens one of s3up's own folders; nil if it does not exist.
  static func open(_ path: String) throws(Failure) -> RecordFolder? {
    guard let folder = try at(path, followsLinks: false) else { return nil }
    try folder.check()
    return folder
  }

  /// Opens the state folder, whoever owns it; nil if it does not exist.
  static func at(_ path: String, followsLinks: Bool = true) throws(Failure) -> RecordFolder? {
    do throws(ErrorNumber) {
      return RecordFolder(path: path, try Folder.records(FilePath(path), followsLinks: followsLinks))
    } catch {
      if error.number == ENOENT { return nil }
      throw StateFolder.failure(path, "cannot be opened", error)
    }
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
    guard let folder = try at(path) else { throw StateFolder.failure(path, "cannot be created", ErrorNumber(ENOENT)) }
    return try folder.strangers() == nil ? folder : make(own(in: path))
  }

  static func make(_ path: String) throws(Failure) -> RecordFolder {
    if let folder = try open(path) { return folder }
    try StateFolder.make(path)
    guard let folder = try open(path) else { throw StateFolder.failure(path, "cannot be created", ErrorNumber(ENOENT)) }
    return folder
  }

  private func check() throws(Failure) {
    guard let why = try strangers() else { return }
    throw Failure(
      .configuration, "the folder of this program's state \(why)",
      remedy: "name another \(.stateFolder), or make the folder yours alone (chown, chmod 700)"
    ).at(Place(file: path))
  }

  /// Why other users can create and replace files in it; nil if they cannot. Root must not trust another user's files
  /// either, because they could point anywhere.
  private func strangers() throws(Failure) -> String? {
    let status: stat
    do throws(ErrorNumber) { status = try folder.status() } catch {
      throw StateFolder.failure(path, "cannot be opened", error)
    }
    if status.st_uid != geteuid() { return "belongs to another user" }
    return status.st_mode & 0o022 == 0 ? nil : "can be written by other users"
  }

  /// Opens a file; nil if it does not exist. O_NONBLOCK, because a named pipe in its place would block.
  func file(_ name: String, _ flags: Int32) throws(Failure) -> RecordFile? {
    let opened: Int32
    do throws(ErrorNumber) {
      opened = try folder.open(Array(name.utf8), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: 0o600)
    } catch {
      switch error.number {
      case ENOENT where flags & O_CREAT == 0: return nil
      case ELOOP, EISDIR, ENXIO: throw RecordFile.foreign(place(name), "is not a plain file")
      default: throw StateFolder.failure(place(name), "cannot be opened", error)
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
      do throws(ErrorNumber) { try folder.rename(Array(temporary.utf8), to: Array(name.utf8)) } catch {
        throw StateFolder.failure(place(name), "cannot be renamed", error)
      }
    } catch {
      unlink(temporary)
      throw error
    }
    try sync()
    return file
  }

  /// Creates a file that is complete and durable before it gets its name. An existing file stays.
  func create(_ name: String, with bytes: [UInt8]) throws(Failure) {
    let (temporary, file) = try newFile(beside: name)
    var isNamed = false
    // Once it has its name, the temporary one may be another run's.
    defer { if !isNamed { unlink(temporary) } }
    try file.write(bytes)
    try file.sync()
    do throws(ErrorNumber) {
      try folder.renameNew(Array(temporary.utf8), to: Array(name.utf8))
      isNamed = true
    } catch {
      guard error.number == EEXIST else { throw StateFolder.failure(place(name), "cannot be named", error) }
    }
    try sync()
  }

  /// Deletes a file durably; not an error if it does not exist.
  func remove(_ name: String) throws(Failure) {
    do throws(ErrorNumber) { try folder.delete(Array(name.utf8)) } catch {
      if error.number == ENOENT { return }
      throw StateFolder.failure(place(name), "cannot be removed", error)
    }
    try sync()
  }

  /// Deletes a lock file, which need not be durable.
  func unlink(_ name: String) { folder.remove(Array(name.utf8)) }

  /// Whether the name still refers to this file.
  func has(_ file: RecordFile, as name: String) -> Bool {
    guard let named = try? folder.status(of: Array(name.utf8), followsLinks: false) else { return false }
    return Inode(open: file.descriptor) == Inode(named)
  }

  func names() throws(Failure) -> [String] {
    var names: [String] = []
    do throws(ErrorNumber) {
      // Opened again, because reading a folder moves its position.
      try folder.folder(Array(".".utf8), followsLinks: false).forEachName { name, _ in
        names.append(String(decoding: name, as: UTF8.self))
      }
    } catch {
      throw StateFolder.failure(path, "cannot be read", error)
    }
    return names.sorted()
  }

  func place(_ name: String) -> String { path + "/" + name }

  /// Makes the folder durable: otherwise a power cut could undo a rename.
  private func sync() throws(Failure) {
    do throws(ErrorNumber) { try folder.sync() } catch {
      throw StateFolder.failure(path, "cannot be made durable", error)
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
      do throws(ErrorNumber) {
        let opened = try folder.open(Array(temporary.utf8), flags, mode: 0o600)
        return (temporary, RecordFile(descriptor: opened, path: place(name)))
      } catch {
        guard error.number == EEXIST else { throw StateFolder.failure(place(name), "cannot be created", error) }
      }
    }
    throw StateFolder.failure(place(name), "cannot be created", ErrorNumber(EEXIST))
  }

  /// Deletes a temporary file that is an hour old: its run was killed, because writing never takes that long.
  private func removeAbandoned(_ temporary: String) {
    guard let status = try? folder.status(of: Array(temporary.utf8), followsLinks: false),
      status.st_mtim.tv_sec < time(nil) - 3600
    else { return }
    unlink(temporary)
  }

  /// Deletes temporary files of this name that killed runs left behind. The caller must hold the name's lock.
  func removeLeftovers(beside name: String) {
    for number in Self.newFiles { unlink(Self.temporary(name, number)) }
  }

  private static func temporary(_ name: String, _ number: Int) -> String { "\(name).new\(number)" }
}
