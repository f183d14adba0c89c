/// An object, or one version of it, as a list of its bucket shows it.
public struct ListedObject: Sendable, Equatable {
  /// What a list of versions says about this one.
  public struct Version: Sendable, Equatable {
    /// `null` for an object that was written while the bucket kept no versions.
    public var id: String
    /// Whoever asks for the object without a version gets this one.
    public var isLatest: Bool
    /// There are no bytes: the object was deleted here.
    public var isDeleteMarker: Bool
  }

  /// As it is, with nothing escaped.
  public var key: String
  /// Nil if the store says none, or one that no object can have.
  public var size: Int64?
  /// As the store gives it, including the quotes.
  public var etag: String?
  /// By the store's clock.
  public var lastModified: Timestamp?
  /// Such as `STANDARD`.
  public var storageClass: String?
  /// Only in a list of versions.
  public var version: Version?

  package init(
    key: String, size: Int64? = nil, etag: String? = nil, lastModified: Timestamp? = nil, storageClass: String? = nil
  ) {
    self.key = key
    self.size = size
    self.etag = etag
    self.lastModified = lastModified
    self.storageClass = storageClass
  }
}

/// One entry of a list.
public enum ListedEntry: Sendable, Equatable {
  case object(ListedObject)
  /// What several keys have in common up to a delimiter, which is at its end.
  case folder(String)

  /// The key, or what the keys of a folder have in common.
  public var key: String {
    switch self {
    case .object(let object): object.key
    case .folder(let key): key
    }
  }
}

/// A bucket in the list of an account.
public struct ListedBucket: Sendable, Equatable {
  /// Its name.
  public var name: String
  /// When it was created, if the store says so.
  public var created: Timestamp?
  /// Its region, if the store says so.
  public var region: String?
}
