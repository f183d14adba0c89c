import Glibc

/// A file's device and inode, which identify it whatever name leads to it.
struct Inode: Sendable, Hashable {
  private let device: UInt64
  private let number: UInt64

  init(_ status: stat) {
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }

  /// The path's target; nil if it cannot be read.
  init?(_ path: FilePath) {
    guard let status = path.status else { return nil }
    self.init(status)
  }

  /// The inode of an open file (`fstat`).
  init?(open descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }
}
