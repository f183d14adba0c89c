/// One page of the versions and delete markers of a bucket, in the order of their keys' bytes: `GET /?versions`.
struct ListObjectVersions: S3Operation {
  static let name = OperationName("ListObjectVersions", needs: "s3:ListBucketVersions on the bucket")

  /// The version after which a page begins.
  struct Marker: Sendable, Equatable {
    var key: String
    /// The version's id; S3 ignores it without the key.
    var versionID: String?
  }

  var bucket: BucketAddress
  var prefix: String?
  var delimiter: String?
  var marker: Marker?

  init(_ bucket: BucketAddress, prefix: String? = nil, delimiter: String? = nil, marker: Marker? = nil) {
    self.bucket = bucket
    self.prefix = prefix
    self.delimiter = delimiter
    self.marker = marker
  }

  var place: Place { bucket.place }

  func request() throws(Failure) -> S3Request {
    var query = [QueryItem("versions"), QueryItem("encoding-type", "url")]
    if let prefix, !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
    if let delimiter { query.append(QueryItem("delimiter", delimiter)) }
    if let marker {
      query.append(QueryItem("key-marker", marker.key))
      if let id = marker.versionID { query.append(QueryItem("version-id-marker", id)) }
    }
    return try S3Request(
      Self.name, .get, place: place, query: query, headers: bucket.common.list(), maximumAnswer: ListedPage.mostBytes)
  }

  func output(from answer: Response) throws(Failure) -> ListObjects.Page {
    let list = ListedPage(
      try document(answer), "ListVersionsResult", of: "Version", "DeleteMarker", limit: "MaxKeys", prefix: prefix)
    guard let list else { throw nonsense(answer, "the answer to \(operation) is not a list of versions") }
    var page = ListObjects.Page(list)
    if let key = list.root.string("NextKeyMarker") {
      page.nextVersion = Marker(
        key: list.keys.decoded(marker: key), versionID: list.root.string("NextVersionIdMarker"))
    }
    return page
  }
}
