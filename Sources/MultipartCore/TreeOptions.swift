/// Which files of a folder are uploaded, and under which keys.
public struct TreeOptions: Sendable {
  /// A glob as in gitignore: `*`, `?`, `[a-z]`, `**`. A slash at the beginning or in the middle anchors it to the
  /// uploaded folder; a slash at the end makes it match folders only.
  public enum Rule: Sendable {
    case include(String)
    case exclude(String)
  }

  /// The rules; the last one that matches decides. If the first one includes, everything else is excluded.
  public var rules: [Rule] = []
  /// Uploads the targets of symbolic links; otherwise links are skipped.
  public var followsLinks = false
  /// Escapes names that are not UTF-8, reversibly; otherwise such a name is a failure.
  public var escapesNames = true
  /// This machine's share of the files: machines with the same number of shares upload each file exactly once.
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
