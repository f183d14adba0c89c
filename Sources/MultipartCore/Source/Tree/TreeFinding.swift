/// What a walk comes upon.
package enum TreeFinding: Sendable {
  case file(TreeFile)
  case skipped(TreeSkip)
  case failed(Failure)
}

/// A regular file that was found in a folder, which stays open with it.
package struct TreeFile: Sendable {
  package let folder: Folder
  /// Below the folder that is walked, with `/` between.
  package let path: [UInt8]
  /// When it was found; zero if the walk only reads names.
  package let size: Int64
  private let nameStart: Int

  package init(folder: Folder, path: [UInt8], size: Int64) {
    self.folder = folder
    self.path = path
    self.size = size
    nameStart = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
  }

  /// In `folder`.
  package var name: [UInt8] { nameStart == 0 ? path : Array(path[nameStart...]) }
  /// For messages.
  package var display: FilePath { folder.display(path[nameStart...]) }
}

/// What is not sent, and why.
package struct TreeSkip: Sendable {
  package enum Reason: Sendable, CaseIterable {
    case socket, device, pipe
    /// By the rules; only told if it is asked for.
    case excluded
    /// Links are not followed.
    case link
    case brokenLink
    /// A folder that it is in.
    case loop
    /// It was there when its folder was read.
    case vanished
    /// It is of another kind than when its folder was read.
    case replaced
    case emptyFolder

    package var words: String {
      switch self {
      case .socket: "a socket"
      case .device: "a device"
      case .pipe: "a named pipe"
      case .excluded: "excluded"
      case .link: "a symbolic link"
      case .brokenLink: "a symbolic link that leads nowhere"
      case .loop: "a symbolic link that leads in a circle"
      case .vanished: "it has vanished"
      case .replaced: "it was replaced while its folder was read"
      case .emptyFolder: "an empty folder, which no object stands for"
      }
    }
  }

  /// Below the folder that is walked; empty for that folder.
  package let path: [UInt8]
  package let reason: Reason
  /// Its path for messages.
  package let display: FilePath
}
