/// The source of an upload's bytes.
enum UploadSource: Sendable {
  case file(SourceFile)
  case stream(UploadStream)

  var path: FilePath {
    switch self {
    case .file(let file): file.path
    case .stream(let stream): FilePath(stream.name)
    }
  }

  /// The identity of a file. A stream has none: it cannot be read again, so its upload cannot be resumed.
  var identity: FileIdentity {
    switch self {
    case .file(let file): file.identity
    case .stream: .none
    }
  }

  /// The size in bytes; nil while it is not known.
  var size: Int64? {
    switch self {
    case .file(let file): file.size
    case .stream: nil
    }
  }

  var isStream: Bool { size == nil }

  /// Called after the object was published: leaves the offset of an open file at its end, for the next reader, and lets
  /// go of processes that a command has left running.
  func wasPublished() {
    switch self {
    case .file(let file): file.leaveAtEnd()
    case .stream(let stream): stream.letGo()
    }
  }

  /// Kills a command that was started, because the process ends at once.
  func kill() {
    if case .stream(let stream) = self { stream.kill() }
  }

  /// Throws if the source has changed.
  func check() throws(Failure) {
    switch self {
    case .file(let file): try file.checkUnchanged()
    case .stream: break
    }
  }
}
