/// What an object is to be, besides its bytes: sent when it is created or put.
public struct ObjectHeaders: Sendable, Equatable {
  /// Who may do what with the object.
  public struct Grant: Sendable, Equatable {
    /// By the names of the headers: `x-amz-grant-read`.
    public enum Permission: String, Sendable, CaseIterable {
      case fullControl = "full-control"
      case read
      case readACL = "read-acp"
      case writeACL = "write-acp"
    }
    /// What.
    public var permission: Permission
    /// `id="…"`, `uri="…"` or `emailAddress="…"`.
    public var grantee: String

    /// A permission for somebody.
    public init(_ permission: Permission, _ grantee: String) {
      self.permission = permission
      self.grantee = grantee
    }
  }

  /// Whether some may shorten a lock.
  public enum LockMode: String, Sendable, CaseIterable {
    case governance = "GOVERNANCE"
    case compliance = "COMPLIANCE"
  }

  /// Nil: guessed.
  public var contentType: String?
  /// `Cache-Control`.
  public var cacheControl: String?
  /// `Content-Disposition`.
  public var contentDisposition: String?
  /// `Content-Encoding`.
  public var contentEncoding: String?
  /// `Content-Language`.
  public var contentLanguage: String?
  /// `Expires`: an HTTP date.
  public var expires: String?
  /// Each becomes `x-amz-meta-NAME`.
  public var metadata: [NamedValue] = []
  /// S3 takes ten.
  public var tags: [NamedValue] = []
  /// `STANDARD_IA`; nil: the bucket's.
  public var storageClass: String?
  /// A canned one, `bucket-owner-full-control`.
  public var acl: String?
  /// Instead of a canned ACL.
  public var grants: [Grant] = []
  /// Where a website of the bucket sends on to.
  public var websiteRedirect: String?
  /// With `retainUntil`.
  public var lockMode: LockMode?
  /// Until then the object cannot be deleted.
  public var retainUntil: Timestamp?
  /// It cannot be deleted while this is on.
  public var legalHold: Bool?
  /// Any other header, by name; one that has a field of its own above is replaced.
  public var extra: [NamedValue] = []

  /// None.
  public init() {}

  /// Made by the signer, the transport or the operation itself: sent twice or changed they would break the request,
  /// or undo what is promised of it.
  package static func isReserved(_ name: String) -> Bool {
    let name = name.lowercased()
    return reserved.contains(name) || SecretNames.isSecret(header: name) || ChecksumHeaders.isChecksum(name)
      || name.hasPrefix(ChecksumHeaders.prefix)
  }

  private static let reserved: Set<String> = [
    "connection", "content-length", "date", "expect", "host", "if-match", "if-none-match", "te", "trailer",
    "transfer-encoding", "upgrade", "x-amz-content-sha256", "x-amz-date", "x-amz-decoded-content-length",
    "x-amz-trailer",
  ]

  func add(to headers: inout S3HeaderBuilder) throws(Failure) {
    try headers.add("Content-Type", contentType)
    try headers.add("Cache-Control", cacheControl)
    try headers.add("Content-Disposition", contentDisposition)
    try headers.add("Content-Encoding", contentEncoding)
    try headers.add("Content-Language", contentLanguage)
    try headers.add("Expires", expires)
    try headers.add("x-amz-storage-class", storageClass)
    try headers.add("x-amz-acl", acl)
    for permission in Grant.Permission.allCases {
      let grantees = grants.filter { $0.permission == permission }.map(\.grantee)
      try headers.add("x-amz-grant-\(permission.rawValue)", grantees.isEmpty ? nil : grantees.joined(separator: ", "))
    }
    try headers.add("x-amz-website-redirect-location", websiteRedirect)
    if (lockMode == nil) != (retainUntil == nil) {
      throw Failure(
        .usage, "an object lock needs a mode and a date until which it holds", remedy: "give both of them, or neither")
    }
    try headers.add("x-amz-object-lock-mode", lockMode?.rawValue)
    try headers.add("x-amz-object-lock-retain-until-date", retainUntil?.iso8601)
    try headers.add("x-amz-object-lock-legal-hold", legalHold.map { $0 ? "ON" : "OFF" })
    if !tags.isEmpty {
      let pairs = tags.map { "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))" }
      try headers.add("x-amz-tagging", pairs.joined(separator: "&"))
    }
    try addMetadata(to: &headers)
    try addExtra(to: &headers)
  }

  private func addMetadata(to headers: inout S3HeaderBuilder) throws(Failure) {
    for entry in metadata {
      let name = "x-amz-meta-\(entry.name)"
      try S3HeaderBuilder.checkName(name)
      guard !entry.name.isEmpty, headers.list[name] == nil else {
        throw Failure(
          .usage, "metadata \"\(entry.name)\" is given twice or has no name",
          remedy: "a store joins values of one name, whatever their case, into one")
      }
      // A line end is refused even though an encoded word could carry it: no reader expects one.
      if entry.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
        try S3HeaderBuilder.checkValue(entry.value, of: name)
      }
      try headers.add(name, EncodedWord.encode(entry.value))
    }
  }

  private func addExtra(to headers: inout S3HeaderBuilder) throws(Failure) {
    for header in extra {
      guard !Self.isReserved(header.name) else {
        throw Failure(
          .usage, "the header \(SafeText.oneLine(header.name, limit: 80)) cannot be given by hand",
          remedy: "it is made with each request, or has an option of its own")
      }
      try headers.set(header.name, header.value)
    }
  }
}
