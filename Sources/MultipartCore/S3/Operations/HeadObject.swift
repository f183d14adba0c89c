/// Asks about an object: `HEAD /key`. The answer has no body, so a refusal has only a status.
struct HeadObject: S3Operation {
  static let name = named(needing: "s3:GetObject")

  private static func named(needing permission: String) -> OperationName {
    OperationName(
      "HeadObject", needs: permission + " (and s3:ListBucket, without which the answer for a missing object is 403)")
  }

  enum Output: Sendable, Equatable {
    case exists(ObjectInfo)
    /// The object does not exist: 404, or 405 for a delete marker. It may also mean that the bucket does not exist: a
    /// HEAD does not distinguish the two.
    case absent

    /// The object, for callers that need it to exist.
    func object() throws(Failure) -> ObjectInfo {
      guard case .exists(let object) = self else { throw HeadObject.noObject }
      return object
    }
  }

  static var noObject: Failure {
    Failure(
      .refused, "there is no object at the key",
      remedy: "check the bucket and the key: \(run: .listObjects) shows what is there")
  }

  var address: ObjectAddress
  var versionID: String?
  /// The part to ask about. The answer then also contains the number of parts of the object; size and checksums are the
  /// part's.
  var partNumber: Int?

  init(_ address: ObjectAddress, versionID: String? = nil, partNumber: Int? = nil) {
    self.address = address
    self.versionID = versionID
    self.partNumber = partNumber
  }

  var place: Place { address.place }
  var operation: OperationName { versionID == nil ? Self.name : Self.named(needing: "s3:GetObjectVersion") }

  func request() throws(Failure) -> S3Request {
    var query: [QueryItem] = []
    if let partNumber { query.append(QueryItem("partNumber", String(partNumber))) }
    if let versionID { query.append(QueryItem("versionId", versionID)) }
    var headers = S3HeaderBuilder()
    try headers.add(HeaderName.checksumMode, "ENABLED")
    try headers.add(address)
    return try S3Request(operation, .head, place: place, query: query, headers: headers.list)
  }

  /// A GET of the first byte. The refusal of a HEAD has no body, so it does not show whether, for example, a token has
  /// expired or the customer's key is missing; and some proxies answer every HEAD with `Content-Length: 0`.
  func question(about answer: Response) -> GetObject? {
    guard partNumber == nil, Self.lacksReason(answer) || Self.mayLackSize(answer) else { return nil }
    let etag = answer.isSuccess ? S3HeaderBuilder.carried(answer.headers["ETag"]) : nil
    return GetObject(address, range: 0...0, ifMatch: etag, versionID: versionID, wantsChecksums: false)
  }

  func settled(_ answer: Response, by told: Response) throws(Failure) -> Response {
    guard answer.isSuccess else { return told.status == answer.status ? told : answer }
    // An empty object has no first byte.
    if told.status == 416 { return answer }
    guard told.isSuccess else { throw Failure(answer: told, operation: GetObject.name, place: place) }
    var answer = answer
    answer.headers.remove("Content-Length")
    answer.headers.add("Content-Length", ObjectInfo(told).size.map(String.init))
    return answer
  }

  private static func lacksReason(_ refusal: Response) -> Bool {
    [400, 403].contains(refusal.status) && S3ErrorBody.code(refusal.headers) == nil
      && S3ErrorBody.requestID(refusal.headers) != nil
  }

  private static func mayLackSize(_ answer: Response) -> Bool {
    guard answer.isSuccess, answer.headers.contentLength == 0, !ObjectInfo(answer).isArchived else { return false }
    return answer.headers.sole("ETag").flatMap(ETag.init) != emptyETag
  }

  /// The MD5 of no bytes.
  private static let emptyETag = ETag("d41d8cd98f00b204e9800998ecf8427e")

  func output(from answer: Response) throws(Failure) -> Output {
    if answer.status == 404 { return .absent }
    if answer.status == 405, answer.headers["x-amz-delete-marker"]?.lowercased() == "true" { return .absent }
    do throws(Failure) {
      try requireSuccess(answer)
    } catch {
      var failure = error
      // Otherwise the 400 of a HEAD may be transient; this is a store that does not support part numbers.
      if partNumber != nil, failure.status == 400 { failure.code = .refused }
      throw failure
    }
    let object = ObjectInfo(answer)
    try object.require(version: versionID, at: place)
    return .exists(object)
  }
}

extension ObjectInfo {
  /// Checks the version that was requested. A store without versions ignores the parameter and returns what it has. An
  /// object that was written before its bucket kept versions has the version `null`, which may be omitted.
  func require(version: String?, at place: Place) throws(Failure) {
    guard let version, !(versionID ?? "null").utf8.elementsEqual(version.utf8) else { return }
    throw Failure(
      .refused, "the store returned a different version of the object than the requested one",
      requestID: requestID,
      remedy: "this store may not keep versions: leave the version out to get the current object"
    ).at(place)
  }
}
