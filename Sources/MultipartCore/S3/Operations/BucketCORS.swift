import MultipartBasics

/// A rule that says which pages browsers may let use a bucket.
struct CORSRule: Sendable, Equatable {
  var id: String?
  var origins: [String]
  var methods: [String]
  var headers: [String]
  var exposed: [String]
  var maximumAge: Int64?

  init(
    id: String? = nil, origins: [String], methods: [String], headers: [String], exposed: [String],
    maximumAge: Int64? = nil
  ) {
    self.id = id
    self.origins = origins
    self.methods = methods
    self.headers = headers
    self.exposed = exposed
    self.maximumAge = maximumAge
  }

  init(_ element: XMLElement) {
    func texts(_ name: String) -> [String] {
      element.children.compactMap { $0.isNamed(name) ? ASCII.trimmed($0.text) : nil }
    }
    self.init(
      id: element.string("ID"), origins: texts("AllowedOrigin"), methods: texts("AllowedMethod"),
      headers: texts("AllowedHeader"), exposed: texts("ExposeHeader"),
      maximumAge: element.integer("MaxAgeSeconds", in: .min ... .max))
  }

  /// Writes the rule in the order of S3's schema.
  func write(to writer: inout XMLWriter) {
    writer.open("CORSRule")
    if let id { writer.element("ID", id) }
    for header in headers { writer.element("AllowedHeader", header) }
    for method in methods { writer.element("AllowedMethod", method) }
    for origin in origins { writer.element("AllowedOrigin", origin) }
    for header in exposed { writer.element("ExposeHeader", header) }
    if let maximumAge { writer.element("MaxAgeSeconds", String(maximumAge)) }
    writer.close("CORSRule")
  }
}

/// Reads a bucket's CORS rules: `GET /?cors`.
struct GetBucketCORS: S3Operation {
  static let name = OperationName("GetBucketCors", needs: "s3:GetBucketCORS on the bucket")

  var bucket: BucketAddress

  var place: Place { bucket.place }

  func request() throws(Failure) -> S3Request {
    return try S3Request(Self.name, .get, place: place, query: [QueryItem("cors")], headers: bucket.common.list())
  }

  /// The rules; empty if the bucket has none.
  func output(from answer: Response) throws(Failure) -> [CORSRule] {
    try rules(answer, "CORSRule", of: "CORSConfiguration", none: "NoSuchCORSConfiguration").map { CORSRule($0) }
  }
}

/// Replaces a bucket's CORS rules: `PUT /?cors`.
struct PutBucketCORS: S3Operation {
  static let name = OperationName("PutBucketCors", needs: "s3:PutBucketCORS on the bucket")

  var bucket: BucketAddress
  var rules: [CORSRule]

  var place: Place { bucket.place }

  func request() throws(Failure) -> S3Request {
    var writer = XMLWriter()
    writer.open("CORSConfiguration", namespace: "http://s3.amazonaws.com/doc/2006-03-01/")
    for rule in rules { rule.write(to: &writer) }
    writer.close("CORSConfiguration")
    var headers = S3HeaderBuilder()
    try headers.add("Content-Type", "application/xml")
    // S3 requires a digest of this body.
    try headers.add(HeaderName.contentMD5, Base64.encode(try Digest.md5(writer.bytes)))
    try headers.add(bucket.common)
    return try S3Request(
      Self.name, .put, place: place, query: [QueryItem("cors")], headers: headers.list, body: .bytes(writer.bytes))
  }

  func output(from answer: Response) throws(Failure) { try requireSuccess(answer) }
}
