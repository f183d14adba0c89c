import MultipartBasics

/// Properties of an object that a HEAD does not show, or not to all users; each is a small document: `GET /key?acl`
/// etc.
struct GetObjectSettings: S3Operation {
  /// Each part is its own operation, `operation`.
  static let name = OperationName("GetObjectSettings", needs: "the permission of its part")

  enum Part: String, Sendable, CaseIterable {
    case acl
    case tagging
    case retention
    case legalHold = "legal-hold"

    func operation(ofVersion: Bool) -> OperationName {
      switch self {
      case .acl: OperationName("GetObjectAcl", needs: ofVersion ? "s3:GetObjectVersionAcl" : "s3:GetObjectAcl")
      case .tagging:
        OperationName("GetObjectTagging", needs: ofVersion ? "s3:GetObjectVersionTagging" : "s3:GetObjectTagging")
      case .retention: OperationName("GetObjectRetention", needs: "s3:GetObjectRetention")
      case .legalHold: OperationName("GetObjectLegalHold", needs: "s3:GetObjectLegalHold")
      }
    }
  }

  /// A permission in an ACL.
  struct Grant: Sendable, Equatable {
    /// The permission: `FULL_CONTROL`, `READ`, `WRITE`, `READ_ACP`, `WRITE_ACP`.
    var permission: String
    var id: String?
    var uri: String?
  }

  enum Output: Sendable, Equatable {
    case acl([Grant])
    case tags([NamedValue])
    case retention(mode: String?, until: String?)
    case legalHold(String?)
    /// The object does not have the property.
    case none
    /// The store does not know the query: it returned the object itself.
    case object
  }

  var address: ObjectAddress
  var part: Part
  var versionID: String?

  init(_ address: ObjectAddress, part: Part, versionID: String? = nil) {
    self.address = address
    self.versionID = versionID
    self.part = part
  }

  var place: Place { address.place }
  var operation: OperationName { part.operation(ofVersion: versionID != nil) }

  /// Far more than any of these documents needs. A store that does not know the query sends no more than this of an
  /// object of any size, and its answer shows that it is an object, even if the bytes look like the document.
  private static let mostBytes = 64 << 10

  func request() throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    try headers.add("Range", "bytes=0-\(Self.mostBytes - 1)")
    try headers.add(address.common)
    var query = [QueryItem(part.rawValue)]
    if let versionID { query.append(QueryItem("versionId", versionID)) }
    return try S3Request(operation, .get, place: place, query: query, headers: headers.list)
  }

  /// Whether an unsuccessful answer says that the object does not have the property. There are many codes
  /// (NoSuchTagSet, NoSuchTagSetError, NoSuchObjectLockConfiguration, ObjectLockConfigurationNotFoundError for an
  /// object in a bucket with object lock, …), so every 404 means it that is not about the object or bucket itself. For
  /// a bucket without object lock it is 400 InvalidRequest at AWS and others. Every object has an ACL.
  private func saysNone(_ answer: Response) -> Bool {
    let body = S3ErrorBody(answer.body)
    let code = body.code ?? S3ErrorBody.code(answer.headers)
    switch part {
    case .acl: return false
    case .retention, .legalHold:
      if answer.status == 400, code == "InvalidRequest" { return true }
      fallthrough
    case .tagging:
      guard answer.status == 404, body.form != .other else { return false }
      return !["NoSuchKey", "NoSuchBucket", "NoSuchVersion", "NotFound", "NoSuchUpload"].contains(code)
    }
  }

  func output(from answer: Response) throws(Failure) -> Output {
    // Only an object has an ETag and ranges; 416: an empty object has no range. A store might return a range of a
    // document.
    if answer.status == 416 || (answer.status == 206 && answer.headers["ETag"] != nil) { return .object }
    if saysNone(answer) { return .none }
    guard answer.isSuccess, !S3ErrorBody.isError(answer.body) else {
      throw Failure(answer: answer, operation: operation, place: place)
    }
    let tree: XMLTree
    do { tree = try XMLReader.read(answer.body) } catch { throw unreadable(answer, error) }
    switch part {
    case .acl:
      // Some stores that do not know the query return something else, which says nothing.
      guard let list = tree.first("AccessControlList") else {
        throw nonsense(answer, "the answer to \(operation) is not a list of grants")
      }
      return .acl(
        list.children.filter { $0.isNamed("Grant") }.map { grant in
          let grantee = grant.first("Grantee")
          return Grant(
            permission: ASCII.trimmed(grant.string("Permission") ?? ""), id: grantee?.string("ID").map(ASCII.trimmed),
            uri: grantee?.string("URI").map(ASCII.trimmed))
        })
    case .tagging:
      guard let set = tree.first("TagSet") else {
        throw nonsense(answer, "the answer to \(operation) is not a set of tags")
      }
      return .tags(
        set.children.filter { $0.isNamed("Tag") }.map { tag in
          NamedValue(tag.string("Key") ?? "", tag.string("Value") ?? "")
        })
    case .retention:
      return .retention(mode: tree.root?.string("Mode"), until: tree.root?.string("RetainUntilDate"))
    case .legalHold: return .legalHold(tree.root?.string("Status"))
    }
  }
}
