/// Asks about an object: `HEAD /key`. The answer has no body, so a refusal has only a status.
package struct HeadObject: S3Operation {
  package static let name = named(needing: "s3:GetObject")

  private static func named(needing permission: String) -> OperationName {
    OperationName(
      "HeadObject", needs: permission + " (and s3:ListBucket, without which a missing object is answered 403)")
  }

  package enum Output: Sendable, Equatable {
    case exists(ObjectInfo)
    /// 404, or 405 of a version that only marks a deletion. It may also mean that the bucket does not exist: a HEAD
    /// does not tell which.
    case absent

    /// For callers that need it.
    func object() throws(Failure) -> ObjectInfo {
      guard case .exists(let object) = self else { throw HeadObject.noObject }
      return object
    }
  }

  static var noObject: Failure {
    Failure(.refused, "there is no object at the key", remedy: "check the bucket and the key")
  }

  package var address: ObjectAddress
  package var versionID: String?
  /// The answer then also says how many parts the object has; size and checksums are the part's.
  package var partNumber: Int?

  package init(_ address: ObjectAddress, versionID: String? = nil, partNumber: Int? = nil) {
    self.address = address
    self.versionID = versionID
    self.partNumber = partNumber
  }

  package var place: Place { address.place }
  package var operation: OperationName { versionID == nil ? Self.name : Self.named(needing: "s3:GetObjectVersion") }

  package func request() throws(Failure) -> S3Request {
    var query: [QueryItem] = []
    if let partNumber { query.append(QueryItem("partNumber", String(partNumber))) }
    if let versionID { query.append(QueryItem("versionId", versionID)) }
    var headers = S3HeaderBuilder()
    try headers.add(HeaderName.checksumMode, "ENABLED")
    try headers.add(address)
    return try S3Request(operation, .head, place: place, query: query, headers: headers.list)
  }

  package func output(from answer: Response) throws(Failure) -> Output {
    if answer.status == 404 { return .absent }
    if answer.status == 405, answer.headers["x-amz-delete-marker"]?.lowercased() == "true" { return .absent }
    do throws(Failure) {
      try requireSuccess(answer)
    } catch {
      var failure = error
      // Otherwise the 400 of a HEAD may pass; this is a store that knows no part numbers.
      if partNumber != nil, failure.status == 400 { failure.code = .refused }
      throw failure
    }
    let object = ObjectInfo(answer)
    try checkVersion(object)
    return .exists(object)
  }

  /// A store without versions ignores the question and answers with what it has. An object that was written before its
  /// bucket kept versions has the version `null`, which need not be said.
  private func checkVersion(_ object: ObjectInfo) throws(Failure) {
    guard let versionID, !(object.versionID ?? "null").utf8.elementsEqual(versionID.utf8) else { return }
    throw Failure(
      .refused, "the store answers with another version of the object than the one that was asked for",
      requestID: object.requestID,
      remedy: "this store may keep no versions: ask without one for the object as it is now"
    ).at(place)
  }
}
