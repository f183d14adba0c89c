import Glibc

/// What a walk finds.
package enum TreeFinding: Sendable {
  case file(TreeFile)
  case skipped(TreeSkip)
  case failed(Failure)
}

/// A regular file that was found in a folder. The folder stays open as long as this value exists.
package struct TreeFile: Sendable {
  package let folder: Folder
  /// The path below the folder that is walked, with `/` between the names.
  package let path: [UInt8]
  /// The size when it was found; zero if the walk only reads names.
  package let size: Int64
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
  package var name: [UInt8] { nameStart == 0 ? path : Array(path[nameStart...]) }
  /// The path for messages.
  package var display: FilePath { folder.display(path[nameStart...]) }
}

/// Something that is not sent, and the reason.
package struct TreeSkip: Sendable {
  package enum Reason: Sendable, CaseIterable {
    case socket, device, pipe
    /// A rule excludes it; reported only if the walk is asked to.
    case excluded
    /// Links are not followed.
    case link
    /// It leads to a folder that contains it.
    case loop
    /// It existed when its folder was read, but no longer when it was looked up.
    case vanished
    /// It was a different kind of file when it was looked up than when its folder was read.
    case replaced
    case emptyFolder
    /// s3up's own files in its state folder.
    case ownState

    package var words: String {
      switch self {
      case .socket: "a socket"
      case .device: "a device"
      case .pipe: "a named pipe"
      case .excluded: "excluded"
      case .link: "a symbolic link"
      case .loop: "a symbolic link that leads in a circle"
      case .vanished: "it has vanished"
      case .replaced: "it was replaced while its folder was read"
      case .emptyFolder: "an empty folder, which has no object"
      case .ownState: "this program's own state"
      }
    }
  }

  /// The path below the folder that is walked; empty for that folder itself.
  package let path: [UInt8]
  package let reason: Reason
  /// The path for messages.
  package let display: FilePath
}
