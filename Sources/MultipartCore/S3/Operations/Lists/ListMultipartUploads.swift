import MultipartBasics

/// One page of the unfinished uploads of a bucket: `GET /?uploads`.
struct ListMultipartUploads: S3Operation {
  static let name = OperationName("ListMultipartUploads", needs: "s3:ListBucketMultipartUploads on the bucket")

  struct Upload: Sendable, Equatable {
    var key: String
    /// The key in the other reading, if nothing shows how the store encodes keys: the upload may be at that one.
    var otherKey: String?
    var uploadID: String
    /// The start time as the store wrote it, and as a time if it could be read.
    var initiatedText: String?
    var initiated: Timestamp?

    init(key: String, otherKey: String? = nil, uploadID: String, initiatedText: String? = nil) {
      self.key = key
      self.otherKey = otherKey
      self.uploadID = uploadID
      self.initiatedText = initiatedText
      initiated = initiatedText.flatMap(DateText.iso8601)
    }

    /// The possible keys, the likeliest first.
    var keys: [String] { [key] + (otherKey.map { [$0] } ?? []) }
  }

  struct Page: Sendable, Equatable {
    var uploads: [Upload]
    var isTruncated: Bool?
    var nextKeyMarker: String?
    var nextUploadIDMarker: String?
    /// The store has sent more uploads than are read.
    var isCut = false
    /// The store's clock at the time of its answer.
    var date: Timestamp?
  }

  var bucket: BucketAddress
  var prefix: String?
  var marker: Marker?

  struct Marker: Sendable, Hashable {
    var key: String
    /// The upload after which the page begins; S3 ignores it without the key.
    var uploadID: String?
  }

  init(_ bucket: BucketAddress, prefix: String? = nil, marker: Marker? = nil) {
    self.bucket = bucket
    self.prefix = prefix
    self.marker = marker
  }

  var place: Place { bucket.place }

  func request() throws(Failure) -> S3Request {
    // Keys may contain characters that XML cannot represent: stores that support it send them percent-encoded.
    var query = [QueryItem("uploads"), QueryItem("encoding-type", "url")]
    if let prefix, !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
    if let marker {
      query.append(QueryItem("key-marker", marker.key))
      if let id = marker.uploadID { query.append(QueryItem("upload-id-marker", id)) }
    }
    return try S3Request(
      Self.name, .get, place: place, query: query, headers: bucket.common.list(), maximumAnswer: ListedPage.mostBytes)
  }

  func output(from answer: Response) throws(Failure) -> Page {
    let list = ListedPage(
      try document(answer), "ListMultipartUploadsResult", of: "Upload", limit: "MaxUploads", prefix: prefix)
    guard let list else { throw nonsense(answer, "the answer to \(operation) is not a list of uploads") }
    let uploads = list.entries.compactMap { element -> Upload? in
      guard let key = element.string("Key"), let id = element.string("UploadId") else { return nil }
      return Upload(
        key: list.keys.decoded(key), otherKey: list.keys.other(key), uploadID: id,
        initiatedText: element.string("Initiated").map(ASCII.trimmed))
    }
    guard uploads.count == list.entries.count else {
      throw nonsense(answer, "the answer to \(operation) has an upload without an id")
    }
    var page = Page(
      uploads: uploads, isTruncated: list.root.boolean("IsTruncated"),
      nextKeyMarker: list.root.string("NextKeyMarker").map { list.keys.decoded(marker: $0) },
      nextUploadIDMarker: list.root.string("NextUploadIdMarker"))
    page.isCut = list.isCut
    page.date = answer.headers["Date"].flatMap(DateText.http)
    return page
  }
}
