internal import CKernels
import Glibc

/// The file that an object becomes, as it was when the run began.
struct DownloadTarget: Sendable {
  let path: FilePath
  /// Of the file that is there; nil if there is none.
  let found: FileIdentity?
  private let mode: mode_t
  private let owner: (user: uid_t, group: gid_t)?

  enum Kind {
    case file(DownloadTarget)
    /// A named pipe or a device: it is written from its beginning to its end.
    case stream
  }

  /// What the path leads to (`lstat`, `stat`). A link stays, and what it leads to is replaced.
  static func look(at path: FilePath) throws(Failure) -> Kind {
    var own = stat()
    guard path.withCString({ lstat($0, &own) }) == 0 else {
      guard errno == ENOENT else { throw failure(errno, "the target cannot be looked at", path) }
      let slash = UInt8(ascii: "/")
      guard let status = path.folder.status, status.st_mode & S_IFMT == S_IFDIR else {
        throw Failure(.precondition, "the target's folder is not there", remedy: "make it: mkdir -p").at(
          Place(file: path.folder.text))
      }
      // By the name that it will have when it is there: the next run finds what this one has noted.
      let folder = path.folder.resolved ?? path.folder
      let name = FilePath(bytes: (folder.bytes == [slash] ? [] : folder.bytes) + [slash] + path.lastName)
      return .file(DownloadTarget(path: name, found: nil, mode: 0o666 & ~fileMask(), owner: nil))
    }
    guard let status = path.status, let real = path.resolved else {
      throw Failure(.precondition, "the target is a link that leads nowhere", remedy: "remove it, or name another file")
        .at(Place(file: path.text))
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      return .file(
        DownloadTarget(
          path: real, found: FileIdentity(status), mode: status.st_mode & 0o7777,
          owner: (status.st_uid, status.st_gid)))
    case S_IFDIR:
      throw Failure(.precondition, "the target is a folder", remedy: "name the file in it").at(Place(file: path.text))
    case S_IFIFO, S_IFCHR: return .stream
    default:
      throw Failure(.precondition, "the target is neither a file nor a pipe", remedy: "name a file").at(
        Place(file: path.text))
    }
  }

  /// `umask`, from `/proc`: asking for it otherwise would change it for a moment, for all threads.
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

  /// Gives the whole, proven file its mode and its name, durably: `fchmod`, `fsync`, `rename`, `fsync` of the folder. What
  /// somebody else has put there meanwhile stays.
  func publish(_ part: PartFile, replaces: Bool) throws(Failure) {
    if let owner, geteuid() == 0 { _ = fchown(part.descriptor, owner.user, owner.group) }
    guard fchmod(part.descriptor, mode) == 0 else { throw Self.failure(errno, "the file's mode cannot be set", path) }
    try part.sync()
    if found == nil || !replaces {
      try publishNew(part)
    } else {
      guard let now = path.status, FileIdentity(now) == found else { throw Self.changed(path) }
      guard part.path.withCString({ from in path.withCString { rename(from, $0) } }) == 0 else {
        throw Self.failure(errno, "the file cannot be given its name", path)
      }
    }
    let folder = path.folder.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard folder >= 0 else { return }
    defer { close(folder) }
    guard fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw Self.failure(errno, "the folder cannot be made durable", path.folder)
    }
  }

  /// `renameat2` with RENAME_NOREPLACE, or `link` where a file system does not have it.
  private func publishNew(_ part: PartFile) throws(Failure) {
    let code = part.path.withCString { from in
      path.withCString { to in ck_rename_new(from, to) }
    }
    if code == 0 { return }
    if code == EEXIST { throw Self.changed(path) }
    guard code == EINVAL || code == ENOSYS else {
      throw Self.failure(code, "the file cannot be given its name", path)
    }
    let linked = part.path.withCString { from in path.withCString { to in link(from, to) == 0 ? 0 : errno } }
    if linked == EEXIST { throw Self.changed(path) }
    guard linked == 0 else { throw Self.failure(linked, "the file cannot be given its name", path) }
    part.remove()
  }

  private static func changed(_ path: FilePath) -> Failure {
    Failure(
      .precondition, "another program has written the target meanwhile, and it was left alone",
      remedy: "run it again with \(.overwrites): what was downloaded is kept"
    ).at(Place(file: path.text))
  }

  static func failure(_ code: Int32, _ what: String, _ path: FilePath) -> Failure {
    let isForGood = [ENOENT, ENOTDIR, EACCES, EPERM, EROFS, EISDIR, ENAMETOOLONG, ELOOP].contains(code)
    return .system(
      isForGood ? .precondition : .local, code, "\(what)",
      remedy: isForGood
        ? "name another target, or make it one that you may write"
        : [ENOSPC, EDQUOT].contains(code) ? "make room for the whole object, or name a target on another disk" : nil
    ).at(Place(file: path.text))
  }
}
