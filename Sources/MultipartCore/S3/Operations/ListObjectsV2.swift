/// An object as a list of its bucket shows it.
package struct ListedObject: Sendable, Equatable {
  package var key: String
  /// Nil if the store says none, or one that no object can have.
  package var size: Int64?
  /// As the store gives it, including the quotes.
  package var etag: String?
  package var lastModified: Timestamp?

  package init(key: String, size: Int64? = nil, etag: String? = nil, lastModified: Timestamp? = nil) {
    self.key = key
    self.size = size
    self.etag = etag
    self.lastModified = lastModified
  }
}

/// One page of the objects of a bucket, in the order of their keys' bytes: `GET /?list-type=2`.
package struct ListObjects: S3Operation {
  package static let name = "ListObjectsV2"

  package struct Page: Sendable, Equatable {
    package var objects: [ListedObject]
    package var isTruncated: Bool?
    /// With it the store gives the next page.
    package var nextToken: String?
    package var requestID: String?

    package init(
      objects: [ListedObject], isTruncated: Bool? = nil, nextToken: String? = nil, requestID: String? = nil
    ) {
      self.objects = objects
      self.isTruncated = isTruncated
      self.nextToken = nextToken
      self.requestID = requestID
    }
  }

  package var bucket: String
  package var prefix: String?
  /// Only keys behind this text are listed. S3 ignores it beside a token.
  package var startAfter: String?
  package var token: String?
  package var maximumKeys: Int?
  package var common: CommonHeaders

  package init(
    bucket: String, prefix: String? = nil, startAfter: String? = nil, token: String? = nil, maximumKeys: Int? = nil,
    common: CommonHeaders = CommonHeaders()
  ) {
    self.bucket = bucket
    self.prefix = prefix
    self.startAfter = startAfter
    self.token = token
    self.maximumKeys = maximumKeys
    self.common = common
  }

  package var place: Place { Place(bucket: bucket) }

  /// As many as a page of S3 has.
  static let usualPage = 1000
  private static let mostOfPage = 10 * usualPage

  package func request() throws(Failure) -> S3Request {
    // Keys may contain characters that XML cannot represent: stores that support it send them percent-encoded.
    var query = [QueryItem("list-type", "2"), QueryItem("encoding-type", "url")]
    if let prefix, !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
    if let maximumKeys { query.append(QueryItem("max-keys", String(maximumKeys))) }
    if let startAfter, !startAfter.isEmpty { query.append(QueryItem("start-after", startAfter)) }
    if let token { query.append(QueryItem("continuation-token", token)) }
    var headers = S3HeaderBuilder()
    try common.add(to: &headers)
    // A thousand of the longest keys, fully encoded, take about 4 MiB.
    return try S3Request(
      Self.name, .get, place: place, query: query, headers: headers.list, maximumAnswer: 8 << 20)
  }

  package func output(from answer: Response) throws(Failure) -> Page {
    let tree = try document(answer)
    guard let root = tree.root,
      root.isNamed("ListBucketResult") || root.first("Contents") != nil || root.first("MaxKeys") != nil
    else {
      throw nonsense(answer, "the answer to \(Self.name) is not a list of objects")
    }
    let elements = root.children.lazy.filter { $0.isNamed("Contents") }.prefix(Self.mostOfPage)
    let keys = ListedKeys(elements.compactMap { $0.string("Key") }, encodingType: root.string("EncodingType"))
    let objects = elements.compactMap { element -> ListedObject? in
      guard let key = element.string("Key") else { return nil }
      return ListedObject(
        key: keys.decoded(key),
        size: element.integer("Size").flatMap { (0...S3Limits.largestObject).contains($0) ? $0 : nil },
        etag: element.string("ETag").map(ASCII.trimmed),
        lastModified: element.string("LastModified").map(ASCII.trimmed).flatMap(S3Date.iso8601))
    }
    return Page(
      objects: Array(objects), isTruncated: root.boolean("IsTruncated"),
      nextToken: root.string("NextContinuationToken"), requestID: S3ErrorBody.requestID(answer.headers))
  }
}
