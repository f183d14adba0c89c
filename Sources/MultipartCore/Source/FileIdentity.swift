import Glibc

/// Which file it is, how long, and when it was last written: what must not change while a file is read, and what a record
/// of an earlier run is held against.
package struct FileIdentity: Sendable, Equatable {
  package var device: UInt64
  package var inode: UInt64
  /// From where the source begins.
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

/// A file's ctime: moved by every write, and by what leaves the bytes alone too (chmod, chown, link, an attribute). It
/// cannot be put back, and so shows what a restored mtime hides. Not part of the identity: a chmod between two runs makes
/// no other file, and what an earlier run has sent is compared with the bytes anyway.
struct StatusChange: Sendable, Equatable {
  private let seconds: Int64
  private let nanoseconds: Int64

  init(_ status: stat) {
    seconds = Int64(status.st_ctim.tv_sec)
    nanoseconds = Int64(status.st_ctim.tv_nsec)
  }
}
