import MultipartBasics
import MultipartCore

extension ObjectHeaders {
  /// Reads what the object is created with, from the command line and the environment.
  init(_ invocation: Invocation) throws(Failure) {
    self.init()
    contentType = try invocation.text(.contentType)
    cacheControl = try invocation.text(.cacheControl)
    contentDisposition = try invocation.text(.contentDisposition)
    contentEncoding = try invocation.text(.contentEncoding)
    contentLanguage = try invocation.text(.contentLanguage)
    expires = try invocation.httpDate(.expiresHeader)
    metadata = try Self.metadata(invocation)
    tags = try Self.tags(invocation)
    storageClass = try invocation.text(.storageClass)
    acl = try invocation.word(.acl)
    grants = try Self.grants(invocation)
    lockMode = try invocation.choice(.objectLockMode)
    retainUntil = try invocation.date(.retainUntil)
    legalHold = try invocation.word(.legalHold).map { $0 == "on" }
    websiteRedirect = try invocation.text(.websiteRedirect)
    extra = try Self.others(invocation)
    if let name = replaced { throw Self.isSetTwice(name) }
    if acl != nil, !grants.isEmpty {
      throw Failure(.usage, "--acl and --grant exclude each other", remedy: "Use one of them; S3 refuses both.")
    }
    if (lockMode == nil) != (retainUntil == nil) {
      throw Failure(
        .usage, "--object-lock-mode and --retain-until belong together",
        remedy: "Give both: --object-lock-mode GOVERNANCE --retain-until 2031-01-31T00:00:00Z.")
    }
  }

  /// The failure for a header that another option sets too.
  static func isSetTwice(_ name: String) -> Failure {
    Failure(.usage, "--header and another option both set \(name)", remedy: "Leave one of them out.")
  }

  private static func metadata(_ invocation: Invocation) throws(Failure) -> [NamedValue] {
    let pairs = try invocation.keyValues(.metadata)
    var names: Set<String> = []
    for pair in pairs {
      guard HeaderText.isName(pair.name) else {
        throw Failure(
          .usage, "--metadata: '\(pair.name)' cannot be a name",
          remedy: "It becomes part of a header: letters, digits, hyphens.")
      }
      guard names.insert(pair.name.lowercased()).inserted else {
        throw Failure(.usage, "--metadata: '\(pair.name)' is given twice", remedy: "Give each name once.")
      }
    }
    return pairs
  }

  private static func tags(_ invocation: Invocation) throws(Failure) -> [NamedValue] {
    let pairs = try invocation.keyValues(.tag)
    // S3's limits: 128 letters for a name, 256 for a value, each name once.
    guard pairs.count <= S3Limits.mostTags else {
      throw Failure(
        .usage, "--tag: \(pairs.count) tags; S3 allows \(S3Limits.mostTags)",
        remedy: "Leave some out, or use --metadata.")
    }
    var names: Set<[UInt8]> = []
    for pair in pairs {
      guard pair.name.unicodeScalars.count <= 128, pair.value.unicodeScalars.count <= 256 else {
        throw Failure(
          .usage, "--tag: '\(pair.name)' is too long",
          remedy: "S3 allows 128 letters for the name and 256 for the value."
        )
      }
      guard names.insert(Array(pair.name.utf8)).inserted else {
        throw Failure(.usage, "--tag: '\(pair.name)' is given twice", remedy: "Give each name once.")
      }
    }
    return pairs
  }

  private static func grants(_ invocation: Invocation) throws(Failure) -> [Grant] {
    let permissions: [String: Grant.Permission] = [
      "read": .read, "read-acl": .readACL, "readacl": .readACL, "write-acl": .writeACL, "writeacl": .writeACL,
      "full": .fullControl, "full-control": .fullControl,
    ]
    let types = ["id": "id", "uri": "uri", "email": "emailAddress", "emailaddress": "emailAddress"]
    var result: [Grant] = []
    for given in invocation.all(.grant) {
      let parts = try invocation.text(given).pieces(at: "=", maxSplits: 2)
      guard parts.count == 3, let permission = permissions[parts[0].lowercased()],
        let type = types[parts[1].lowercased()],
        !parts[2].isEmpty, !parts[2].holds("\"")
      else {
        throw invocation.wrong(
          given, "is not of the form PERMISSION=TYPE=ID",
          remedy: "PERMISSION is read, read-acl, write-acl or full; TYPE is id, uri or email.")
      }
      result.append(Grant(permission, "\(type)=\"\(parts[2])\""))
    }
    return result
  }

  private static func others(_ invocation: Invocation) throws(Failure) -> [NamedValue] {
    var result: [NamedValue] = []
    for given in invocation.all(.header) {
      let source = given.origin.text
      // No message shows the value, because a header may be a secret.
      guard let text = given.value.utf8Text, HeaderText.isValue(text),
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), HeaderText.isName(String(text[..<colon]))
      else {
        throw Failure(.usage, "\(source): not of the form NAME: VALUE", remedy: "Write --header 'NAME: VALUE'.")
      }
      let name = String(text[..<colon])
      let lower = name.lowercased()
      if lower.begins(with: "x-amz-server-side-encryption-customer-") {
        throw Failure(
          .usage, "\(source): \(name) would show the key in the list of processes", remedy: "Use --sse-c-key-file FILE."
        )
      }
      guard !ObjectHeaders.isReserved(lower) else {
        throw Failure(
          .usage, "\(source): \(name) cannot be given by hand",
          remedy: "Leave the header out: s3up sets it itself, or it would show a secret in the list of processes.")
      }
      result.append(NamedValue(name, ASCII.trimmed(String(text[text.utf8.index(after: colon)...]))))
    }
    return result
  }
}
