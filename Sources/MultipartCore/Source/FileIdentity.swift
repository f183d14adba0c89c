import Glibc

/// What must not change while a file is read: which file it is, how long, and when it was last written.
package struct FileIdentity: Sendable, Equatable {
  package var device: UInt64
  package var inode: UInt64
  package var size: Int64
  package var modifiedSeconds: Int64
  package var modifiedNanoseconds: Int64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    modifiedSeconds = Int64(status.st_mtim.tv_sec)
    modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
  }

  /// What happened to a file that had this identity and now has `other`.
  func change(to other: FileIdentity) -> String? {
    if other.device != device || other.inode != inode { return "was replaced by another file" }
    if other.size < size { return "shrank from \(size) to \(other.size) bytes" }
    if other.size > size { return "grew from \(size) to \(other.size) bytes" }
    if other != self { return "was rewritten" }
    return nil
  }
}

extension FileIdentity {
  /// Of what is no file.
  package static let none = FileIdentity(stat())
}
