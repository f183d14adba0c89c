/// Where the bytes come from.
package enum UploadSource: Sendable {
  case file(MappedFile)

  package var path: FilePath {
    switch self {
    case .file(let file): file.path
    }
  }

  package var identity: FileIdentity {
    switch self {
    case .file(let file): file.identity
    }
  }

  /// Throws when it is no longer what it was.
  package func check() throws(Failure) {
    switch self {
    case .file(let file): try file.checkUnchanged()
    }
  }
}
