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

  /// Writes a file that is complete and durable before it replaces the one of this name: a temporary file next to it,
  /// `fsync`, `rename`. Without a mode it gets that of the user's umask.
  static func replace(
    _ path: FilePath, mode: mode_t?, failing failure: (Int32) -> Failure, _ fill: (Int32) throws(Failure) -> Void
  ) throws(Failure) {
    let (temporary, descriptor) = ScratchFile.made(path, O_WRONLY, mode: mode ?? 0o666)
    guard descriptor >= 0 else { throw failure(errno) }
    do throws(Failure) {
      defer { close(descriptor) }
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
