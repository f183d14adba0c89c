/// Which objects a run downloads.
///
///     var sources = DownloadSources(.below(["www/"]), prefix: "www/")
///     sources.rules = try GlobRules([.include("*.html")])
///     let summary = try await store.downloads(sources, into: FilePath("site")).run()
public struct DownloadSources: Sendable {
  /// Where the objects are named.
  public enum Kind: Sendable {
    /// Everything below each of these prefixes.
    case below([String])
    /// Objects that each get the last component of their key as name.
    case named([String])
    /// A list of keys below the prefix, one per line; `-` is standard input. With `endsWithZero` a NUL ends each key
    /// instead.
    case list(FilePath, endsWithZero: Bool)
    /// The objects of a manifest, below the prefix.
    case manifest(ManifestList)
  }

  /// Where the objects are named.
  public var kind: Kind
  /// The common prefix of keys that their paths omit: it ends with a slash, or is empty.
  public var prefix: String
  /// The name of the file, if one object is named; nil: the last component of its key.
  public var name: [UInt8]?
  /// Which objects are downloaded, by their paths; the last rule that matches decides.
  public var rules = GlobRules()
  /// Gives files back their original names if these are not UTF-8, and an upload has escaped the invalid bytes as `%XX`
  /// in their keys. A key that only looks escaped is decoded too.
  public var restoresOddNames = false
  /// This machine's share of the objects.
  public var shard: Shard?
  /// Also reports what the rules exclude, as skipped.
  public var tellsExcluded = false
  /// Whether a run succeeds if there is nothing to download.
  public var allowsNothing = true

  /// Objects below the prefix, all of them.
  public init(_ kind: Kind, prefix: String) { (self.kind, self.prefix) = (kind, prefix) }
}
