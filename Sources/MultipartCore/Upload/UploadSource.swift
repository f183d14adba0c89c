/// Where the bytes come from.
package enum UploadSource: Sendable {
  case file(SourceFile)
  case stream(UploadStream)

  package var path: FilePath {
    switch self {
    case .file(let file): file.path
    case .stream(let stream): FilePath(stream.name)
    }
  }

  /// A stream has none: nothing can be read again, so no upload of it can be resumed.
  package var identity: FileIdentity {
    switch self {
    case .file(let file): file.identity
    case .stream: .none
    }
  }

  /// Nil while it is not known.
  package var size: Int64? {
    switch self {
    case .file(let file): file.size
    case .stream: nil
    }
  }

  package var isStream: Bool { size == nil }

  /// Whoever reads from the same open file after this run finds it at its end, and what a command has left running is
  /// its own affair.
  func wasPublished() {
    switch self {
    case .file(let file): file.leaveAtEnd()
    case .stream(let stream): stream.letGo()
    }
  }

  /// The program ends at once, and nothing of a command is left behind.
  package func kill() {
    if case .stream(let stream) = self { stream.kill() }
  }

  /// Throws when it is no longer what it was.
  package func check() throws(Failure) {
    switch self {
    case .file(let file): try file.checkUnchanged()
    case .stream: break
    }
  }
}
