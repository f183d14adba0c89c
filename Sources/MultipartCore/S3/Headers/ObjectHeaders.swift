/// What an object is to be, besides its bytes: sent when it is created or put.
package struct ObjectHeaders: Sendable, Equatable {
  package struct Grant: Sendable, Equatable {
    package enum Permission: String, Sendable, CaseIterable {
      case fullControl = "full-control"
      case read
      case readACL = "read-acp"
      case writeACL = "write-acp"
    }
    package var permission: Permission
    /// `id="…"`, `uri="…"` or `emailAddress="…"`.
    package var grantee: String

    package init(_ permission: Permission, _ grantee: String) {
      self.permission = permission
      self.grantee = grantee
    }
  }

  package enum LockMode: String, Sendable, CaseIterable {
    case governance = "GOVERNANCE"
    case compliance = "COMPLIANCE"
  }

  package var contentType: String?
  package var cacheControl: String?
  package var contentDisposition: String?
  package var contentEncoding: String?
  package var contentLanguage: String?
  package var expires: String?
  package var metadata: [NamedValue] = []
  package var tags: [NamedValue] = []
  package var storageClass: String?
  package var acl: String?
  package var grants: [Grant] = []
  package var websiteRedirect: String?
  package var lockMode: LockMode?
  package var retainUntil: Timestamp?
  package var legalHold: Bool?
  /// Any other header, by name; one that has a field of its own above is replaced.
  package var extra: [NamedValue] = []

  package init() {}

  /// Made by the signer, the transport or the operation itself: sent twice or changed they would break the request,
  /// or undo what is promised of it.
  private static let reserved: Set<String> = [
    "authorization", "connection", "content-length", "content-md5", "date", "expect", "host", "if-match",
    "if-none-match", "te", "trailer", "transfer-encoding", "upgrade", "x-amz-content-sha256", "x-amz-date",
    "x-amz-decoded-content-length", "x-amz-security-token", "x-amz-trailer",
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
      let pairs = tags.map { "\(S3Text.percentEncoded($0.name))=\(S3Text.percentEncoded($0.value))" }
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
      let name = header.name.lowercased()
      guard !Self.reserved.contains(name), !SecretNames.isSecret(header: name),
        !ChecksumHeaders.isChecksum(name)
      else {
        throw Failure(
          .usage, "the header \(S3Text.cleaned(header.name, limit: 80)) cannot be given by hand",
          remedy: "it is made with each request, or has an option of its own")
      }
      try headers.set(header.name, header.value)
    }
  }
}
