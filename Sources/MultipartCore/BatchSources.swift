/// The files that a run uploads or verifies, and which of them are left out.
///
///     var sources = BatchSources(.named([FilePath("site")]), prefix: "www/")
///     sources.rules = try GlobRules([.exclude("*.tmp")])
///     let summary = try await store.batch(sources).run()
public struct BatchSources: Sendable {
  /// Where the files are named.
  public enum Kind: Sendable {
    /// Files, and folders whose contents go below the prefix.
    case named([FilePath])
    /// A list of files, one per line; `-` is standard input. With `endsWithZero` a NUL ends each name instead.
    case list(FilePath, endsWithZero: Bool)
    /// Objects with their destinations.
    case batch(OpenBatch)
  }

  /// What becomes of a file's name that is not UTF-8, as keys must be.
  public enum OddNames: Sendable {
    /// Invalid bytes become `%XX`, and `%` becomes `%25`, so that the name can be read back.
    case escape
    /// The file fails.
    case refuse
  }

  /// Where the files are named.
  public var kind: Kind
  /// The beginning of each key: empty, or usually with a slash at its end.
  public var prefix: String
  /// The key of a single file, instead of one below the prefix.
  public var key: String?
  /// Which files are sent; the last rule that matches decides.
  public var rules = GlobRules()
  /// Sends the targets of symbolic links; otherwise links are skipped.
  public var followsLinks = false
  /// What becomes of names that are not UTF-8.
  public var oddNames = OddNames.escape
  /// This machine's share of the files: machines with the same number of shares send each file exactly once.
  public var shard: Shard?
  /// Attributes of the objects by the names of their files.
  public var attributes: AttributeRules?
  /// Also reports what the rules exclude, as skipped.
  public var tellsExcluded = false
  /// Whether a run succeeds if its rules leave nothing to send, or its list is empty.
  public var allowsNothing = true

  /// Files below the prefix, all of them.
  public init(_ kind: Kind, prefix: String) {
    self.kind = kind
    self.prefix = prefix
  }
}
