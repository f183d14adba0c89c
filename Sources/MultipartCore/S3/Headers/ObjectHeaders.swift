import MultipartBasics

/// Properties of an object besides its bytes; sent when it is created.
public struct ObjectHeaders: Sendable, Equatable {
  /// A permission for a grantee.
  public struct Grant: Sendable, Equatable {
    /// Named like the headers, such as `x-amz-grant-read`.
    public enum Permission: String, Sendable, CaseIterable {
      case fullControl = "full-control"
      case read
      case readACL = "read-acp"
      case writeACL = "write-acp"
    }
    /// The permission.
    public var permission: Permission
    /// The grantee: `id="…"`, `uri="…"` or `emailAddress="…"`.
    public var grantee: String

    /// A permission for `grantee`.
    public init(_ permission: Permission, _ grantee: String) {
      self.permission = permission
      self.grantee = grantee
    }
  }

  /// Whether privileged users may shorten a lock.
  public enum LockMode: String, Sendable, CaseIterable {
    case governance = "GOVERNANCE"
    case compliance = "COMPLIANCE"
  }

  /// The `Content-Type`; nil: guessed.
  public var contentType: String?
  /// The `Cache-Control`.
  public var cacheControl: String?
  /// The `Content-Disposition`.
  public var contentDisposition: String?
  /// The `Content-Encoding`.
  public var contentEncoding: String?
  /// The `Content-Language`.
  public var contentLanguage: String?
  /// The `Expires` header: an HTTP date.
  public var expires: String?
  /// User metadata; each entry becomes `x-amz-meta-NAME`.
  public var metadata: [NamedValue] = []
  /// The tags, at most ten in S3.
  public var tags: [NamedValue] = []
  /// The storage class, such as `STANDARD_IA`; nil: the bucket's default.
  public var storageClass: String?
  /// A canned ACL such as `bucket-owner-full-control`.
  public var acl: String?
  /// An ACL of single permissions, instead of a canned one.
  public var grants: [Grant] = []
  /// The target to which the bucket's website redirects requests for this object.
  public var websiteRedirect: String?
  /// The mode of an object lock; with `retainUntil`.
  public var lockMode: LockMode?
  /// The object cannot be deleted before this time.
  public var retainUntil: Timestamp?
  /// Whether a legal hold protects the object from deletion.
  public var legalHold: Bool?
  /// Further headers by name; they replace headers of the properties above.
  public var extra: [NamedValue] = []

  /// No headers.
  public init() {}

  /// Whether the header is set by the signer, the transport or the operation: sent twice or changed, it would break the
  /// request or what it guarantees.
  public static func isReserved(_ name: String) -> Bool {
    let name = name.lowercased()
    return reserved.contains(name) || SecretNames.isCredential(header: name) || ChecksumHeaders.isChecksum(name)
      || name.begins(with: ChecksumHeaders.prefix)
  }

  private static let reserved: Set<String> = [
    "connection", "content-length", "date", "expect", "host", "if-match", "if-none-match", "te", "trailer",
    "transfer-encoding", "upgrade", HeaderName.payloadSHA256, "x-amz-date", "x-amz-decoded-content-length",
    "x-amz-trailer",
  ]

  /// The first of the further headers that one of the properties sets too, and would replace.
  public var replaced: String? {
    var (own, builder) = (self, S3HeaderBuilder())
    own.extra = []
    // A property that cannot be sent is reported when it is.
    guard (try? own.add(to: &builder)) != nil else { return nil }
    return extra.first { builder.list[$0.name] != nil }?.name
  }

  func add(to headers: inout S3HeaderBuilder) throws(Failure) {
    try headers.add("Content-Type", contentType)
    try headers.add("Cache-Control", cacheControl)
    try headers.add("Content-Disposition", contentDisposition)
    try headers.add("Content-Encoding", contentEncoding)
    try headers.add("Content-Language", contentLanguage)
    try headers.add("Expires", expires)
    try headers.add(HeaderName.storageClass, storageClass)
    try headers.add(HeaderName.acl, acl)
    for permission in Grant.Permission.allCases {
      let grantees = grants.filter { $0.permission == permission }.map(\.grantee)
      try headers.add(
        "\(HeaderName.grant)\(permission.rawValue)", grantees.isEmpty ? nil : grantees.joined(separator: ", "))
    }
    try headers.add(HeaderName.redirect, websiteRedirect)
    if (lockMode == nil) != (retainUntil == nil) {
      throw Failure(
        .usage, "an object lock needs a mode and an end date", remedy: "give both or neither")
    }
    try headers.add(HeaderName.lockMode, lockMode?.rawValue)
    try headers.add(HeaderName.lockDate, retainUntil?.iso8601)
    try headers.add(HeaderName.legalHold, legalHold.map { $0 ? "ON" : "OFF" })
    if !tags.isEmpty {
      guard tags.count <= S3Limits.mostTags else {
        throw Failure(
          .usage, "the object has \(tags.count) tags; S3 allows \(S3Limits.mostTags)", remedy: "leave some out")
      }
      let pairs = tags.map { "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))" }
      try headers.add(HeaderName.tagging, pairs.joined(separator: "&"))
    }
    try addMetadata(to: &headers)
    try addExtra(to: &headers)
  }

  /// The tags of `k=v&k2=v2`, decoded.
  static func tags(_ header: String) -> [NamedValue] {
    header.words(between: "&").map { pair in
      let words = pair.pieces(at: "=", maxSplits: 1).map { PercentEncoding.decoded(String($0)) }
      return NamedValue(words[0], words.count > 1 ? words[1] : "")
    }
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
      // Refused although an encoded word could carry it: no reader expects a line break.
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
          remedy: "it is set by each request, or has its own option")
      }
      try headers.set(header.name, header.value)
    }
  }
}
