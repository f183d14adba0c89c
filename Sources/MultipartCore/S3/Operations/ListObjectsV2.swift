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
    /// Nothing shows whether the keys are percent-encoded, and it makes a difference.
    package var areKeysDoubtful = false

    package init(objects: [ListedObject], isTruncated: Bool? = nil, nextToken: String? = nil) {
      self.objects = objects
      self.isTruncated = isTruncated
      self.nextToken = nextToken
    }
  }

  package var bucket: String
  package var prefix: String?
  /// Only keys behind this text are listed. S3 ignores it beside a token.
  package var startAfter: String?
  package var token: String?
  package var common: CommonHeaders

  package init(
    bucket: String, prefix: String? = nil, startAfter: String? = nil, token: String? = nil,
    common: CommonHeaders = CommonHeaders()
  ) {
    self.bucket = bucket
    self.prefix = prefix
    self.startAfter = startAfter
    self.token = token
    self.common = common
  }

  package var place: Place { Place(bucket: bucket) }

  package func request() throws(Failure) -> S3Request {
    // Keys may contain characters that XML cannot represent: stores that support it send them percent-encoded.
    var query = [QueryItem("list-type", "2"), QueryItem("encoding-type", "url")]
    if let prefix, !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
    if let startAfter, !startAfter.isEmpty { query.append(QueryItem("start-after", startAfter)) }
    if let token { query.append(QueryItem("continuation-token", token)) }
    return try S3Request(
      Self.name, .get, place: place, query: query, headers: common.list(), maximumAnswer: ListedPage.mostBytes)
  }

  package func output(from answer: Response) throws(Failure) -> Page {
    let list = ListedPage(
      try document(answer), "ListBucketResult", of: "Contents", limit: "MaxKeys", prefix: prefix)
    guard let list else { throw nonsense(answer, "the answer to \(Self.name) is not a list of objects") }
    let objects = list.entries.compactMap { element -> ListedObject? in
      guard let key = element.string("Key") else { return nil }
      return ListedObject(
        key: list.keys.decoded(key),
        size: element.integer("Size", in: 0...S3Limits.largestObject),
        etag: element.string("ETag").map(ASCII.trimmed),
        lastModified: element.string("LastModified").map(ASCII.trimmed).flatMap(S3Date.iso8601))
    }
    var page = Page(
      objects: objects, isTruncated: list.root.boolean("IsTruncated"),
      nextToken: list.root.string("NextContinuationToken"))
    page.areKeysDoubtful = list.keys.areDoubtful
    return page
  }
}
