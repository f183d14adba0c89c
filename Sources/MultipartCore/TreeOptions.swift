/// Which files of a folder are uploaded, and under which keys.
public struct TreeOptions: Sendable {
  /// A glob as in gitignore: `*`, `?`, `[a-z]`, `**`; with a slash at its beginning or inside it is tied to the folder
  /// that is uploaded, with one at its end it is for folders only.
  public enum Rule: Sendable {
    case include(String)
    case exclude(String)
  }

  /// The last rule that matches counts. If the first one includes, everything else is excluded.
  public var rules: [Rule] = []
  /// Uploads what links lead to; otherwise they are skipped.
  public var followsLinks = false
  /// A name that is not UTF-8 is escaped so that it can be read back; otherwise it is a failure.
  public var escapesNames = true
  /// This machine's share of the files: machines with the same number of shares upload each file once.
  public var share: Shard?

  /// The defaults.
  public init() {}

  func sources(_ folder: String, to prefix: String) throws(Failure) -> BatchSources {
    let end = prefix.isEmpty || prefix.utf8.last == UInt8(ascii: "/") ? "" : "/"
    var sources = BatchSources(.named([FilePath(folder)]), prefix: prefix + end)
    sources.rules = try GlobRules(
      rules.map { rule in
        switch rule {
        case .include(let glob): (.include, glob)
        case .exclude(let glob): (.exclude, glob)
        }
      })
    sources.followsLinks = followsLinks
    sources.names = escapesNames ? .escape : .refuse
    sources.shard = share
    return sources
  }
}
