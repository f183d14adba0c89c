import Glibc

/// What a walk finds.
enum TreeFinding: Sendable {
  case file(TreeFile)
  case skipped(TreeSkip)
  case failed(TreeFailure)
}

/// A regular file that was found in a folder. The folder stays open as long as this value exists.
struct TreeFile: Sendable {
  let folder: Folder
  /// The path below the folder that is walked, with `/` between the names.
  let path: [UInt8]
  /// The size when it was found; zero if the walk only reads names.
  let size: Int64
  /// The file's inode when it was found; nil if the walk only reads names.
  let inode: Inode?
  private let nameStart: Int

  /// `status`: nil if the walk only reads names.
  init(folder: Folder, path: [UInt8], _ status: stat?) {
    self.folder = folder
    self.path = path
    size = status.map { Int64($0.st_size) } ?? 0
    inode = status.map { Inode($0) }
    nameStart = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
  }

  /// The file's name in `folder`.
  var name: [UInt8] { nameStart == 0 ? path : Array(path[nameStart...]) }
  /// The path for messages.
  var display: FilePath { folder.display(path[nameStart...]) }
}

/// Something that cannot be sent, and the reason.
struct TreeFailure: Sendable {
  let failure: Failure
  /// The path below the folder that is walked; nil if a list must not name it: a folder, whose files are
  /// not known, or a file with the same key as another.
  let path: [UInt8]?
  /// The path for messages.
  let display: FilePath
}

/// Something that is not sent, and the reason.
struct TreeSkip: Sendable {
  /// The path below the folder that is walked; empty for that folder itself.
  let path: [UInt8]
  let reason: SkippedSource.Reason
  /// The path for messages.
  let display: FilePath
}
