import Glibc

enum WholeFile {
  /// Reads a descriptor to its end (`read`), but stops once it has more than `most` bytes. Nil on failure: `errno` has
  /// the reason.
  static func read(_ descriptor: Int32, most: Int) -> [UInt8]? {
    // Not a zeroed array: small files are read at each start, and zeroing its pages would cost more than reading them.
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { piece in
      var bytes: [UInt8] = []
      while bytes.count <= most {
        let count = Glibc.read(descriptor, piece.baseAddress, piece.count)
        if count == 0 { break }
        if count > 0 {
          bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: piece[..<count]))
        } else if errno != EINTR {
          return nil
        }
      }
      return bytes
    }
  }

  /// Gives a new file the owner of the one that it will replace, as only root can: its user must still be able to read
  /// it. Comes before the mode is set, from which it may take bits.
  static func keepOwner(_ user: uid_t, _ group: gid_t, _ descriptor: Int32) {
    if geteuid() == 0 { _ = fchown(descriptor, user, group) }
  }

  /// The same for the file that has this name, except in a folder in which anybody may have made it.
  static func keepOwner(of path: FilePath, _ descriptor: Int32) {
    var former = stat()
    if let folder = path.folder.status, folder.st_mode & S_IWOTH == 0,
      path.withCString({ lstat($0, &former) }) == 0, former.st_mode & S_IFMT == S_IFREG
    {
      keepOwner(former.st_uid, former.st_gid, descriptor)
    }
  }

  /// Writes a file that is complete and durable before it replaces the one of this name, whose owner it keeps: a
  /// temporary file next to it, `fsync`, `rename`. Without a mode it gets that of the user's umask.
  static func replace(
    _ path: FilePath, mode: mode_t?, failing failure: (Int32) -> Failure, _ fill: (Int32) throws(Failure) -> Void
  ) throws(Failure) {
    let (temporary, descriptor) = ScratchFile.made(path, O_WRONLY, mode: mode ?? 0o666)
    guard descriptor >= 0 else { throw failure(errno) }
    do throws(Failure) {
      defer { close(descriptor) }
      keepOwner(of: path, descriptor)
      if let mode { guard fchmod(descriptor, mode) == 0 else { throw failure(errno) } }
      try fill(descriptor)
      guard fsync(descriptor) == 0, temporary.withCString({ from in path.withCString { rename(from, $0) } }) == 0 else {
        throw failure(errno)
      }
    } catch {
      temporary.remove()
      throw error
    }
    do throws(ErrorNumber) {
      try Folder.target(path.folder, shownAs: path.folder).sync()
    } catch {
      throw failure(error.number)
    }
  }
}
