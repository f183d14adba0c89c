/// One page of the unfinished uploads of a bucket: `GET /?uploads`.
package struct ListMultipartUploads: S3Operation {
  package static let name = "ListMultipartUploads"

  package struct Upload: Sendable, Equatable {
    package var key: String
    /// The key before decoding. Some stores say that keys are encoded although they are not; if no key of the page shows
    /// that, this may be the real key: worth a try if the upload is not found under the decoded one.
    package var keyAsWritten: String
    package var uploadID: String
    /// As the store wrote it, and as a time if it could be read.
    package var initiatedText: String?
    package var initiated: Timestamp?
    package var initiator: String?
    package var owner: String?
    package var storageClass: String?

    package init(key: String, keyAsWritten: String? = nil, uploadID: String, initiatedText: String? = nil) {
      self.key = key
      self.keyAsWritten = keyAsWritten ?? key
      self.uploadID = uploadID
      self.initiatedText = initiatedText
      initiated = initiatedText.flatMap(S3Date.iso8601)
    }
  }

  package struct Page: Sendable, Equatable {
    package var uploads: [Upload]
    package var isTruncated: Bool?
    package var nextKeyMarker: String?
    package var nextUploadIDMarker: String?
    package var requestID: String?
    /// The store's clock when it answered.
    package var date: Timestamp?

    package init(
      uploads: [Upload], isTruncated: Bool? = nil, nextKeyMarker: String? = nil, nextUploadIDMarker: String? = nil,
      requestID: String? = nil
    ) {
      self.uploads = uploads
      self.isTruncated = isTruncated
      self.nextKeyMarker = nextKeyMarker
      self.nextUploadIDMarker = nextUploadIDMarker
      self.requestID = requestID
    }
  }

  package var bucket: String
  package var prefix: String?
  package var marker: Marker?
  package var maximumUploads: Int?
  package var common: CommonHeaders

  package struct Marker: Sendable, Hashable {
    package var key: String
    /// S3 ignores it without the key.
    package var uploadID: String?

    package init(key: String, uploadID: String? = nil) {
      self.key = key
      self.uploadID = uploadID
    }
  }

  package init(
    bucket: String, prefix: String? = nil, marker: Marker? = nil, maximumUploads: Int? = nil,
    common: CommonHeaders = CommonHeaders()
  ) {
    self.bucket = bucket
    self.prefix = prefix
    self.marker = marker
    self.maximumUploads = maximumUploads
    self.common = common
  }

  package var place: Place { Place(bucket: bucket) }

  /// Ten times as many as a page of S3 has.
  private static let mostOfPage = 10_000

  package func request() throws(Failure) -> S3Request {
    // Keys may contain characters that XML cannot represent: stores that support it send them percent-encoded.
    var query = [QueryItem("uploads"), QueryItem("encoding-type", "url")]
    if let prefix, !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
    if let maximumUploads { query.append(QueryItem("max-uploads", String(maximumUploads))) }
    if let marker {
      query.append(QueryItem("key-marker", marker.key))
      if let id = marker.uploadID { query.append(QueryItem("upload-id-marker", id)) }
    }
    var headers = S3HeaderBuilder()
    try common.add(to: &headers)
    // A thousand of the longest keys, fully encoded, take about 4 MiB.
    return try S3Request(
      Self.name, .get, place: place, query: query, headers: headers.list, maximumAnswer: 8 << 20)
  }

  package func output(from answer: Response) throws(Failure) -> Page {
    let tree = try document(answer)
    guard let root = tree.root,
      root.isNamed("ListMultipartUploadsResult") || root.first("Upload") != nil || root.first("MaxUploads") != nil
    else {
      throw nonsense(answer, "the answer to \(Self.name) is not a list of uploads")
    }
    let elements = root.children.lazy.filter { $0.isNamed("Upload") }.prefix(Self.mostOfPage)
    let keys = ListedKeys(elements.compactMap { $0.string("Key") }, encodingType: root.string("EncodingType"))
    var uploads: [Upload] = []
    for element in elements {
      guard let key = element.string("Key"), let id = element.string("UploadId") else { continue }
      var upload = Upload(
        key: keys.decoded(key), keyAsWritten: key, uploadID: id,
        initiatedText: element.string("Initiated").map(ASCII.trimmed))
      upload.initiator = Self.person(element.first("Initiator"))
      upload.owner = Self.person(element.first("Owner"))
      upload.storageClass = element.string("StorageClass")
      uploads.append(upload)
    }
    var page = Page(
      uploads: uploads, isTruncated: root.boolean("IsTruncated"),
      nextKeyMarker: root.string("NextKeyMarker").map { keys.decoded(marker: $0) },
      nextUploadIDMarker: root.string("NextUploadIdMarker"),
      requestID: S3ErrorBody.requestID(answer.headers))
    page.date = answer.headers["Date"].flatMap(S3Date.http)
    return page
  }

  private static func person(_ element: XMLElement?) -> String? {
    element.flatMap { $0.string("DisplayName") ?? $0.string("ID") }
  }
}
