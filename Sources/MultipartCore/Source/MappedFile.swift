internal import CKernels
import Glibc

/// A regular file, open and mapped as a whole, read-only. Slices of it are shared by all transfers.
///
/// `@unchecked Sendable` holds because nothing changes after `init`; the bytes behind the mapping may change under us,
/// which is why every read is guarded and the identity is checked.
package final class MappedFile: @unchecked Sendable {
  package let path: FilePath
  package let identity: FileIdentity
  private let descriptor: Int32
  private let mapping: UnsafeMutableRawPointer?

  package var size: Int64 { identity.size }

  /// `open`, `fstat`, `mmap`. A directory is a mistake on the command line, anything else that is no regular file too.
  package init(_ path: FilePath) throws(Failure) {
    // O_NONBLOCK: opening a pipe by mistake must not wait for its writer.
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
    do throws(Failure) {
      let identity = try Self.identity(of: descriptor, path)
      if identity.size == 0 { try Self.checkEmpty(descriptor, path) }
      mapping = try Self.map(descriptor, identity.size, path)
      self.identity = identity
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
  }

  deinit {
    if let mapping { munmap(mapping, Int(size)) }
    close(descriptor)
  }

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

  /// Bytes of the mapping; nil for an empty file.
  func address(_ offset: Int64) -> UnsafeMutableRawPointer? {
    mapping?.advanced(by: Int(offset))
  }

  /// Copies out of the mapping with the guarded read, so that a file cut short answers an error instead of SIGBUS.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
    guard let target = buffer.baseAddress, let source = address(offset) else { return }
    guard ck_guarded_read(target, source, buffer.count) == 0 else { throw changed("shrank") }
  }

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

  private static func map(
    _ descriptor: Int32, _ size: Int64, _ path: FilePath
  ) throws(Failure) -> UnsafeMutableRawPointer? {
    guard size > 0 else { return nil }
    guard let mapping = mmap(nil, Int(size), PROT_READ, MAP_SHARED | MAP_NORESERVE, descriptor, 0),
      mapping != MAP_FAILED
    else {
      let error = errno
      // Files of /sys and of some file systems are there and can be read, but have no pages.
      let isUnfit = error == ENODEV || error == EACCES || error == EINVAL
      throw Failure(
        isUnfit ? .sourceMissing : .local, "the source cannot be mapped: " + String(cString: strerror(error)),
        hint: isUnfit ? "copy it into a regular file and upload that" : nil
      ).at(Place(file: path.text))
    }
    return mapping
  }

  private static func unreadable(_ path: FilePath, _ error: Int32) -> Failure {
    Failure(
      .sourceMissing, "the source cannot be read: " + String(cString: strerror(error)),
      hint: error == ENOENT ? "check the name" : "check the permissions"
    ).at(Place(file: path.text))
  }
}
