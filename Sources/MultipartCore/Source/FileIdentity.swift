import Glibc

/// Everything that shows whether a file is still what it was: device, inode, size, mtime and ctime. Whatever is
/// recorded or known about a file applies to this identity only.
///
/// A change of only the ctime is a special case. Every write changes it, but so do chmod, chown, link and extended
/// attributes, which leave the bytes alone. It cannot be set back, so it reveals what a restored mtime hides. Such a
/// file counts as touched: it is still the same file, but nothing that is known about its bytes counts until they have
/// been compared again.
struct FileIdentity: Sendable, Equatable {
  var device: UInt64
  var inode: UInt64
  /// The number of bytes from the source's beginning to its end.
  var size: Int64
  var modifiedSeconds: Int64
  var modifiedNanoseconds: Int64
  var changedSeconds: Int64
  var changedNanoseconds: Int64

  init(_ status: stat, from start: Int64 = 0) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = max(0, Int64(status.st_size) - start)
    modifiedSeconds = Int64(status.st_mtim.tv_sec)
    modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
    changedSeconds = Int64(status.st_ctim.tv_sec)
    changedNanoseconds = Int64(status.st_ctim.tv_nsec)
  }

  /// The ctime.
  var changed: Duration { .seconds(changedSeconds) + .nanoseconds(changedNanoseconds) }

  /// How a file with this identity has changed if it now has `other`; nil if it is the same, or was only touched.
  func change(to other: FileIdentity) -> String? {
    if other.device != device || other.inode != inode { return "was replaced by another file" }
    if other.size < size { return "shrank from \(size) to \(other.size) bytes" }
    if other.size > size { return "grew from \(size) to \(other.size) bytes" }
    if (other.modifiedSeconds, other.modifiedNanoseconds) != (modifiedSeconds, modifiedNanoseconds) {
      return "was rewritten"
    }
    return nil
  }

  /// The numbers, in the order in which records write them.
  var numbers: [UInt64] {
    [device, inode]
      + [size, modifiedSeconds, modifiedNanoseconds, changedSeconds, changedNanoseconds].map { UInt64(bitPattern: $0) }
  }
}

extension FileIdentity {
  /// The identity of a source that is not a file.
  static let none = FileIdentity(stat())
}
