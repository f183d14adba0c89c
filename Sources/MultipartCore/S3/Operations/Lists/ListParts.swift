import MultipartBasics

/// One page of the parts that the store has: `GET /key?uploadId=…`.
struct ListParts: S3Operation {
  static let name = OperationName("ListParts", needs: "s3:ListMultipartUploadParts")

  struct Part: Sendable, Equatable {
    var number: Int
    var size: Int64
    var etag: String
    /// The checksums by lower-case header name.
    var checksums: [String: String] = [:]
    var lastModified: Timestamp?
  }

  struct Page: Sendable, Equatable {
    var parts: [Part]
    /// Whether each part has a number and a size; otherwise the list shows fewer parts than the store has.
    var isReadable = true
    /// Whether there are more pages; nil if the store does not say.
    var isTruncated: Bool?
    var nextMarker: Int?
    var checksumAlgorithm: String?
    var checksumType: String?
    /// The store's clock at the time of its answer.
    var date: Timestamp?
  }

  var address: ObjectAddress
  var uploadID: String
  /// The page begins after this number.
  var marker: Int?
  var maximumParts: Int?

  init(_ address: ObjectAddress, uploadID: String, marker: Int? = nil, maximumParts: Int? = nil) {
    self.address = address
    self.uploadID = uploadID
    self.marker = marker
    self.maximumParts = maximumParts
  }

  var place: Place { address.place(uploadID: uploadID) }

  /// 512 TiB: more than a part can have at any store, and the sum of 10,000 fits into 64 bits.
  private static let largestSize: Int64 = 1 << 49

  func request() throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    try headers.add(address)
    var query = [QueryItem("uploadId", uploadID)]
    if let maximumParts { query.append(QueryItem("max-parts", String(maximumParts))) }
    if let marker { query.append(QueryItem("part-number-marker", String(marker))) }
    // A store without paging sends 10,000 parts of about 600 bytes each.
    return try S3Request(
      Self.name, .get, place: place, query: query, headers: headers.list, maximumAnswer: 16 << 20)
  }

  func output(from answer: Response) throws(Failure) -> Page {
    let tree = try document(answer)
    guard let root = tree.root, root.isNamed("ListPartsResult") || root.first("UploadId") != nil else {
      throw nonsense(answer, "the answer to \(operation) is not a list of parts")
    }
    var parts: [Part] = []
    let entries = root.children.filter { $0.isNamed("Part") }
    for element in entries {
      // A part without number or size cannot be compared with ours, so it does not count.
      guard let number = element.integer("PartNumber", in: S3Limits.partNumbers),
        let size = element.integer("Size", in: 0...Self.largestSize)
      else { continue }
      parts.append(
        Part(
          number: number, size: size, etag: ASCII.trimmed(element.string("ETag") ?? ""),
          checksums: ChecksumHeaders.values(in: element),
          lastModified: element.string("LastModified").flatMap(DateText.iso8601)))
    }
    var page = Page(
      parts: parts, isReadable: parts.count == entries.count, isTruncated: root.boolean("IsTruncated"),
      nextMarker: root.integer("NextPartNumberMarker", in: 0...Int.max),
      checksumAlgorithm: root.string("ChecksumAlgorithm"), checksumType: root.string("ChecksumType"))
    page.date = answer.headers["Date"].flatMap(DateText.http)
    return page
  }
}
