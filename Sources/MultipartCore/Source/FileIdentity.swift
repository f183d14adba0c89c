import Glibc

/// Device, inode, size and modification time of a file: they must not change while it is read, and a record is compared
/// with them.
package struct FileIdentity: Sendable, Equatable {
  package var device: UInt64
  package var inode: UInt64
  /// The bytes from the source's beginning to its end.
  package var size: Int64
  package var modifiedSeconds: Int64
  package var modifiedNanoseconds: Int64

  init(_ status: stat, from start: Int64 = 0) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = max(0, Int64(status.st_size) - start)
    modifiedSeconds = Int64(status.st_mtim.tv_sec)
    modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
  }

  /// How a file with this identity has changed if it now has `other`.
  func change(to other: FileIdentity) -> String? {
    if other.device != device || other.inode != inode { return "was replaced by another file" }
    if other.size < size { return "shrank from \(size) to \(other.size) bytes" }
    if other.size > size { return "grew from \(size) to \(other.size) bytes" }
    if other != self { return "was rewritten" }
    return nil
  }
}

extension FileIdentity {
  /// For a source that is not a file.
  package static let none = FileIdentity(stat())
}

/// A file's ctime: every write changes it, and so do chmod, chown, link and extended attributes, which leave the bytes
/// alone. It cannot be set back, so it shows what a restored mtime hides. It is not part of the identity: after a chmod
/// between two runs it is still the same file, and what an earlier run has sent is compared with the bytes anyway.
struct StatusChange: Sendable, Equatable {
  private let seconds: Int64
  private let nanoseconds: Int64

  init(_ status: stat) {
    seconds = Int64(status.st_ctim.tv_sec)
    nanoseconds = Int64(status.st_ctim.tv_nsec)
  }
}
