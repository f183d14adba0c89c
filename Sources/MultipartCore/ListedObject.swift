/// An object, or one version of it, as the store lists it.
public struct ListedObject: Sendable, Equatable {
  /// What a list of versions says about one version.
  public struct Version: Sendable, Equatable {
    /// The version's id; `null` for an object that was written while the bucket kept no versions.
    public var id: String
    /// A request that names no version gets this one.
    public var isLatest: Bool
    /// A delete marker: the object was deleted at this point, and there are no bytes.
    public var isDeleteMarker: Bool
  }

  /// The object's key, with nothing escaped.
  public var key: String
  /// The size in bytes; nil if the store gives none, or an impossible one.
  public var size: Int64?
  /// The ETag as the store sends it, including the quotes.
  public var etag: String?
  /// When the object was last modified, by the store's clock.
  public var lastModified: Timestamp?
  /// The storage class, such as `STANDARD`.
  public var storageClass: String?
  /// The version; set only in a list of versions.
  public var version: Version?

  init(
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
  /// The common prefix of several keys, up to and including a delimiter.
  case folder(String)

  /// The key of the object, or the common prefix of a folder.
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
