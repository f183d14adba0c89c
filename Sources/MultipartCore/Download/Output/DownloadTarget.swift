import Glibc
import MultipartBasics

/// The file that an object becomes, as it was when the run began: a name in an open folder.
struct DownloadTarget: Sendable {
  let folder: Folder
  let name: [UInt8]
  /// The path, for messages and for the record.
  let path: FilePath
  /// The folder's path as it was given.
  private let givenFolder: FilePath
  /// The identity of an existing file; nil if there is none.
  let found: FileIdentity?
  private let mode: mode_t
  private let owner: (user: uid_t, group: gid_t)?

  /// A target that does not exist yet.
  private init(_ folder: Folder, _ name: [UInt8], _ path: FilePath, _ givenFolder: FilePath, newMode mode: mode_t) {
    (self.folder, self.name, self.path, self.givenFolder, self.mode) = (folder, name, path, givenFolder, mode)
    (found, owner) = (nil, nil)
  }

  /// An existing target.
  private init(_ folder: Folder, _ name: [UInt8], _ path: FilePath, _ givenFolder: FilePath, _ status: stat) {
    (self.folder, self.name, self.path, self.givenFolder, mode) = (
      folder, name, path, givenFolder, status.st_mode & 0o7777
    )
    (found, owner) = (FileIdentity(status), (status.st_uid, status.st_gid))
  }

  enum Kind {
    case file(DownloadTarget)
    /// An open descriptor, written in order from where it is.
    case descriptor(Int32)
    /// A named pipe or a device: it is written in order.
    case stream
  }

  /// Examines the path's target (`lstat`, `stat`). A symbolic link stays, and its target is replaced.
  static func look(at path: FilePath) throws(Failure) -> Kind {
    guard !path.bytes.isEmpty else { throw Failure(.usage, "the target has no name", remedy: "name a file") }
    if let number = path.openDescriptor {
      try requireWritable(number, path.text)
      return .descriptor(number)
    }
    var own = stat()
    guard path.withCString({ lstat($0, &own) }) == 0 else {
      guard errno == ENOENT else { throw failure(errno, "the target cannot be examined", path) }
      guard path.folder.isFolder else {
        throw Failure(
          .precondition, "the target's folder does not exist",
          remedy: path.folder.toCreate
        ).at(Place(file: path.folder.text))
      }
      // Resolved to the name that it will have when it exists, so that the next run finds this run's record.
      let folder = try folder(path.folder.resolved ?? path.folder)
      let name = Array(path.lastName)
      return .file(DownloadTarget(folder, name, folder.display(name), path.folder, newMode: newFileMode()))
    }
    guard let status = path.status, let real = path.resolved else {
      throw Failure(.precondition, "the target is a dangling symbolic link", remedy: "remove it, or name another file")
        .at(Place(file: path.text))
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      let givenFolder = own.st_mode & S_IFMT == S_IFLNK ? real.folder : path.folder
      return .file(DownloadTarget(try folder(real.folder), Array(real.lastName), real, givenFolder, status))
    case S_IFDIR:
      throw Failure(.precondition, "the target is a folder", remedy: "name the file in it").at(Place(file: path.text))
    case S_IFIFO, S_IFCHR: return .stream
    default:
      throw Failure(.precondition, "the target is neither a file nor a pipe", remedy: "name a file").at(
        Place(file: path.text))
    }
  }

  static func requireWritable(_ descriptor: Int32, _ name: String) throws(Failure) {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
      throw Failure(.precondition, "the target is not open for writing", remedy: "name a file").at(Place(file: name))
    }
  }

  /// A name in a folder whose contents are not trusted: no link is followed.
  init(_ name: [UInt8], in folder: Folder, at givenFolder: FilePath, newMode: mode_t) throws(Failure) {
    let path = folder.display(name)
    let status: stat
    do throws(ErrorNumber) {
      status = try folder.status(of: name, followsLinks: false)
    } catch {
      guard error.number == ENOENT else { throw Self.failure(error.number, "the target cannot be examined", path) }
      self.init(folder, name, path, givenFolder, newMode: newMode)
      return
    }
    let kind: Wording
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      self.init(folder, name, path, givenFolder, status)
      return
    case S_IFDIR: kind = "a folder is in the place of the object's file"
    case S_IFLNK: kind = "a symbolic link, which is not followed, is in the place of the object's file"
    default: kind = "something other than a regular file is in the place of the object's file"
    }
    throw Failure(.precondition, kind, remedy: "name another folder, or move it away").at(Place(file: path.text))
  }

  /// Opens a folder to look up names in it, which does not require the right to list it.
  private static func folder(_ path: FilePath) throws(Failure) -> Folder {
    do throws(ErrorNumber) {
      return try Folder.target(path, shownAs: path)
    } catch {
      throw failure(error.number, "the target's folder cannot be opened", path)
    }
  }

  /// The mode of a new file, read without changing the `umask` for a moment, which would affect all threads.
  static func newFileMode() -> mode_t { 0o666 & ~fileMask() }

  private static func fileMask() -> mode_t {
    let descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0o077 }
    defer { close(descriptor) }
    for line in (WholeFile.read(descriptor, most: 64 << 10) ?? []).split(separator: UInt8(ascii: "\n")) {
      guard line.starts(with: "Umask:".utf8) else { continue }
      let digits = line.filter(ASCII.isDigit)
      return digits.reduce(0) { $0 << 3 | mode_t($1 & 7) } & 0o777
    }
    return 0o077
  }

  /// Gives the complete, proven file its mode and its name, durably: `fchmod`, `fsync`, `rename`, `fsync` of the
  /// folder. A file that appeared there in the meantime stays.
  func publish(_ part: PartFile, of size: Int64, replaces: Bool, modified time: FileTime? = nil) throws(Failure) {
    // Mode and owner may have been changed since the target was found.
    let now = try? unchanged()
    let mode = now.map { $0.st_mode & 0o7777 } ?? mode
    let owner = now.map { (user: $0.st_uid, group: $0.st_gid) } ?? owner
    if let owner { WholeFile.keepOwner(owner.user, owner.group, part.descriptor) }
    guard fchmod(part.descriptor, mode) == 0 else { throw Self.failure(errno, "the file's mode cannot be set", path) }
    if let time { part.set(time) }
    try part.sync()
    guard part.identity?.size == size else {
      throw Failure(.local, "another program has changed the length of the file that was being written")
        .at(Place(file: path.text))
    }
    guard part.isThere, folderIsThere else {
      throw Failure(
        .local, "another program has moved, removed or replaced the file that was being written",
        remedy: "nothing was written under the target's name; run it again"
      ).at(Place(file: path.text))
    }
    do throws(ErrorNumber) {
      let isThere = try unchanged() != nil
      if isThere, replaces {
        try folder.rename(part.name, to: name)
      } else {
        try folder.renameNew(part.name, to: name)
      }
    } catch {
      // It may stay for the next run, and only the final name has the mode.
      _ = fchmod(part.descriptor, 0o600)
      guard error.number != EEXIST else { throw changed() }
      throw Self.failure(error.number, "the file cannot be given its name", path)
    }
    do throws(ErrorNumber) {
      try folder.sync()
    } catch {
      throw Self.failure(error.number, "the folder cannot be made durable", folder.path)
    }
  }

  /// The file that was found; nil if there is none or it has been removed. Throws EEXIST if it was replaced or
  /// rewritten, of which a ctime that no change of mode or owner explains is a sign.
  private func unchanged() throws(ErrorNumber) -> stat? {
    guard let found else { return nil }
    let status: stat
    do throws(ErrorNumber) {
      status = try folder.status(of: name, followsLinks: false)
    } catch {
      guard error.number == ENOENT else { throw error }
      return nil
    }
    let now = FileIdentity(status)
    let hasNewRights =
      status.st_mode & 0o7777 != mode || status.st_uid != owner?.user || status.st_gid != owner?.group
    guard now == found || hasNewRights && found.change(to: now) == nil else { throw ErrorNumber(EEXIST) }
    return status
  }

  /// Whether the folder's path, as it was given, still leads to it: it may have been renamed.
  private var folderIsThere: Bool {
    var found = stat()
    guard givenFolder.withCString({ stat($0, &found) }) == 0 else { return errno != ENOENT && errno != ENOTDIR }
    guard let own = try? folder.status() else { return true }
    return Inode(found) == Inode(own)
  }

  private func changed() -> Failure {
    let status = try? folder.status(of: name, followsLinks: false)
    let isFile = status.map { $0.st_mode & S_IFMT == S_IFREG } ?? true
    return Failure(
      .precondition, "another program has written the target during the download, and it was left alone",
      remedy: isFile
        ? "to replace what it has written, run it again with \(.overwrites)"
        : "it is no file any more: move it away, or name another target"
    ).at(Place(file: path.text))
  }

  static func failure(_ code: Int32, _ what: String, _ path: FilePath) -> Failure {
    let isForGood = [ENOENT, ENOTDIR, EACCES, EPERM, EROFS, EISDIR, ENAMETOOLONG, ELOOP].contains(code)
    let file = code == ENOTDIR ? path.fileAmongFolders : nil
    return .system(
      isForGood ? .precondition : .local, code, "\(what)",
      remedy: file.map { $0.isNoFolder + ": name another target" }
        ?? (isForGood
          ? "name another target, or make it writable"
          : [ENOSPC, EDQUOT].contains(code) ? "make room for the whole object, or name a target on another disk" : nil)
    ).at(Place(file: path.text))
  }
}
