import MultipartBasics

/// Creates the object from its parts: `POST /key?uploadId=…` with their list.
///
/// S3 answers `200` before it has assembled the object, sends white space while it works, and may then send `<Error>`:
/// only a complete result document is a success.
struct CompleteMultipartUpload: S3Operation {
  static let name = OperationName("CompleteMultipartUpload", needs: "s3:PutObject (kms:Decrypt with KMS)")

  struct Part: Sendable, Equatable {
    var number: Int
    /// The ETag as the store sent it.
    var etag: String
    /// The part's checksum by its header name, if the upload has checksums.
    var checksum: NamedValue?
  }

  typealias Output = WrittenObject

  var address: ObjectAddress
  var uploadID: String
  var parts: [Part]
  /// The checksum of the whole object, if it is of type FULL_OBJECT.
  var objectChecksum: NamedValue?
  var checksumType: ChecksumType?
  /// The sum of the parts' sizes: S3 refuses if it differs.
  var objectSize: Int64?
  var conditions: WriteConditions

  init(
    _ address: ObjectAddress, uploadID: String, parts: [Part], objectChecksum: NamedValue? = nil,
    checksumType: ChecksumType? = nil, objectSize: Int64? = nil, conditions: WriteConditions = WriteConditions()
  ) {
    self.address = address
    self.uploadID = uploadID
    self.parts = parts
    self.objectChecksum = objectChecksum
    self.checksumType = checksumType
    self.objectSize = objectSize
    self.conditions = conditions
  }

  var place: Place { address.place(uploadID: uploadID) }

  func request() throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    try headers.add("Content-Type", "application/xml")
    if let objectChecksum { try headers.add(objectChecksum.name, objectChecksum.value) }
    try headers.add(HeaderName.checksumType, checksumType?.rawValue)
    try headers.add(HeaderName.objectSize, objectSize.map { String($0) })
    try conditions.add(to: &headers)
    // S3 requires the customer's key if the upload has a checksum or the bucket's policy demands it, and accepts it
    // otherwise.
    try headers.add(address)
    var request = try S3Request(
      Self.name, .post, place: place, query: [QueryItem("uploadId", uploadID)], headers: headers.list,
      body: .bytes(list()), maximumAnswer: 8 << 20, answerMayTakeLong: true)
    // The second time the upload no longer exists.
    request.mayBeResent = false
    return request
  }

  /// The list, sorted by number as S3 requires.
  private func list() throws(Failure) -> [UInt8] {
    guard !parts.isEmpty else { throw Failure(.usage, "an upload without parts cannot be completed").at(place) }
    var writer = XMLWriter(reserving: 200 + parts.count * 160)
    writer.open("CompleteMultipartUpload", namespace: "http://s3.amazonaws.com/doc/2006-03-01/")
    var last = 0
    for part in parts.sorted(by: { $0.number < $1.number }) {
      try S3Limits.check(partNumber: part.number, of: place)
      guard part.number != last else { throw Failure(.usage, "part \(part.number) is listed twice").at(place) }
      last = part.number
      writer.open("Part")
      writer.element("PartNumber", String(part.number))
      writer.element("ETag", part.etag)
      if let checksum = part.checksum, let name = ChecksumHeaders.element(for: checksum.name) {
        writer.element(name, checksum.value)
      }
      writer.close("Part")
    }
    writer.close("CompleteMultipartUpload")
    return writer.bytes
  }

  func output(from answer: Response) throws(Failure) -> Output {
    let carried = objectChecksum != nil || checksumType != nil || parts.contains { $0.checksum != nil }
    let tree = try document(answer, carriedChecksum: carried)
    // The root element's name differs between stores, but a result names the object.
    guard let root = tree.root, root.first("Error") == nil,
      root.isNamed("CompleteMultipartUploadResult") || root.first("ETag") != nil || root.first("Location") != nil
    else {
      throw nonsense(answer, "the answer to \(operation) does not say that the object was created")
    }
    var object = WrittenObject(answer.headers)
    object.etag = ETag.text(root.string("ETag")) ?? object.etag
    object.checksums.merge(ChecksumHeaders.values(in: root)) { _, body in body }
    object.checksumType = root.string("ChecksumType") ?? object.checksumType
    return object
  }
}
