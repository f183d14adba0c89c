/// One page of the objects of a bucket, in the order of their keys' bytes: `GET /?list-type=2`.
struct ListObjects: S3Operation {
  static let name = OperationName("ListObjectsV2", needs: "s3:ListBucket on the bucket")

  struct Page: Sendable, Equatable {
    var objects: [ListedObject]
    /// The common prefixes of the other keys, up to the delimiter.
    var folders: [String] = []
    var isTruncated: Bool?
    /// The token for the next page.
    var nextToken: String?
    /// The marker for the next page in a list of versions.
    var nextVersion: ListObjectVersions.Marker?
    /// Whether it has more entries than are read.
    var isCut = false
    /// Whether nothing shows if the keys are percent-encoded, although it makes a difference.
    var areKeysDoubtful = false

    init(objects: [ListedObject], isTruncated: Bool? = nil, nextToken: String? = nil) {
      self.objects = objects
      self.isTruncated = isTruncated
      self.nextToken = nextToken
    }

    init(_ list: ListedPage) {
      self.init(
        objects: list.objects, isTruncated: list.root.boolean("IsTruncated"),
        nextToken: list.root.string("NextContinuationToken"))
      folders = list.folders
      isCut = list.isCut
      areKeysDoubtful = list.keys.areDoubtful
    }

    enum Next: Sendable, Equatable {
      case end
      case token(String)
      case version(ListObjectVersions.Marker)
      /// There is more, but the store does not say from where.
      case unnamed
    }

    /// Longer than any store's token. It becomes part of a URL, so it must have a limit.
    private static let longestToken = 4096

    var next: Next {
      let isNamed = nextToken != nil || nextVersion != nil
      guard isTruncated ?? (isNamed || objects.count + folders.count >= S3Limits.pageLength) else { return .end }
      if let nextToken, nextToken.utf8.count <= Self.longestToken { return .token(nextToken) }
      if let nextVersion, nextVersion.key.utf8.count + (nextVersion.versionID ?? "").utf8.count <= Self.longestToken {
        return .version(nextVersion)
      }
      return .unnamed
    }
  }

  var bucket: BucketAddress
  var prefix: String?
  /// Keys that contain it after the prefix are not listed; their common prefix up to it is.
  var delimiter: String?
  /// Only keys after this text are listed. S3 ignores it if there is a token.
  var startAfter: String?
  var token: String?
  /// The most keys of the page; nil: as many as a page may have.
  var most: Int?

  init(
    _ bucket: BucketAddress, prefix: String? = nil, delimiter: String? = nil, startAfter: String? = nil,
    token: String? = nil, most: Int? = nil
  ) {
    self.bucket = bucket
    self.prefix = prefix
    self.delimiter = delimiter
    self.startAfter = startAfter
    self.token = token
    self.most = most
  }

  var place: Place { bucket.place }

  func request() throws(Failure) -> S3Request {
    // Keys may contain characters that XML cannot represent: stores that support it send them percent-encoded.
    var query = [QueryItem("list-type", "2"), QueryItem("encoding-type", "url")]
    if let prefix, !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
    if let delimiter { query.append(QueryItem("delimiter", delimiter)) }
    if let startAfter, !startAfter.isEmpty { query.append(QueryItem("start-after", startAfter)) }
    if let token { query.append(QueryItem("continuation-token", token)) }
    if let most { query.append(QueryItem("max-keys", String(most))) }
    return try S3Request(
      Self.name, .get, place: place, query: query, headers: bucket.common.list(), maximumAnswer: ListedPage.mostBytes)
  }

  func output(from answer: Response) throws(Failure) -> Page {
    let list = ListedPage(
      try document(answer), "ListBucketResult", of: "Contents", limit: "MaxKeys", prefix: prefix)
    guard let list else { throw nonsense(answer, "the answer to \(operation) is not a list of objects") }
    return Page(list)
  }
}
