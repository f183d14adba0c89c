import Glibc

/// A regular file, open for reading. Slices of it are shared by all transfers.
///
/// It is read by `pread` into buffers that stay in the cache, not through a mapping: mapping and letting go of its pages
/// costs more than the kernel's copy, and a file that is cut short is a short read instead of a signal. Nothing changes
/// after `init`; the bytes in the file may, which is why its identity is checked.
package final class SourceFile: Sendable {
  package let path: FilePath
  package let identity: FileIdentity
  let descriptor: Int32
  /// Where slices of it are summed.
  let desk = SumDesk()

  package var size: Int64 { identity.size }

  /// `open`, `fstat`. A directory is a mistake on the command line, anything else that is no regular file too.
  package init(_ path: FilePath) throws(Failure) {
    // O_NONBLOCK: opening a pipe by mistake must not wait for its writer.
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
    do throws(Failure) {
      let identity = try Self.identity(of: descriptor, path)
      if identity.size == 0 { try Self.checkEmpty(descriptor, path) }
      self.identity = identity
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// Throws when the file is no longer what it was at the start: by its descriptor (rewritten in place, cut, grown) and
  /// by its name (replaced by another file).
  package func checkUnchanged() throws(Failure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.unreadable(path, errno) }
    if let change = identity.change(to: FileIdentity(status)) { throw changed(change) }
    guard path.withCString({ stat($0, &status) }) == 0 else { throw changed("was removed or renamed") }
    if let change = identity.change(to: FileIdentity(status)) { throw changed(change) }
  }

  package func changed(_ what: String) -> Failure {
    var failure = Failure(
      .sourceChanged, "the file \(what) while it was read",
      hint: "run it again when nothing writes to the file; nothing was published")
    failure.place.file = path.text
    return failure
  }

  /// Fills the buffer: `pread`. A file that ends before is one that was cut short.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
      if count > 0 {
        done += count
      } else if count == 0 {
        throw shrunk
      } else if errno != EINTR {
        throw unreadable(errno)
      }
    }
  }

  var shrunk: Failure { changed("shrank") }

  func unreadable(_ error: Int32) -> Failure { Self.unreadable(path, error) }

  private static func identity(of descriptor: Int32, _ path: FilePath) throws(Failure) -> FileIdentity {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return FileIdentity(status)
    case S_IFDIR: throw Failure(.usage, "the source is a directory", hint: "name a file").at(Place(file: path.text))
    default: throw Failure(.usage, "the source is not a regular file", hint: "name a file").at(Place(file: path.text))
    }
  }

  /// Files of `/proc` say that they have no bytes, and have some: taken at their word they would be published empty.
  private static func checkEmpty(_ descriptor: Int32, _ path: FilePath) throws(Failure) {
    var byte: UInt8 = 0
    guard Glibc.read(descriptor, &byte, 1) != 0 else { return }
    throw Failure(
      .sourceMissing, "the source does not say how long it is", hint: "copy it into a regular file and upload that"
    ).at(Place(file: path.text))
  }

  private static func unreadable(_ path: FilePath, _ error: Int32) -> Failure {
    Failure(
      .sourceMissing, "the source cannot be read: " + String(cString: strerror(error)),
      hint: error == ENOENT ? "check the name" : "check the permissions"
    ).at(Place(file: path.text))
  }
}
