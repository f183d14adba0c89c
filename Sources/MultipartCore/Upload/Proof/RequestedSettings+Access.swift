import MultipartBasics

/// Compares a canned ACL and grants with the grants that an object has.
extension RequestedSettings {
  private static let everybody = "http://acs.amazonaws.com/groups/global/AllUsers"
  private static let anyAccount = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"

  /// What an access control list can show. The meaning of `bucket-owner-read` and `aws-exec-read` depends on account
  /// ids that are not known here: for those, only a grant to everyone is a difference.
  func access(_ shown: [GetObjectSettings.Grant]) -> State {
    let canned = asked[HeaderName.acl]?.lowercased()
    let wanted = grants(canned)
    for grant in shown {
      guard let group = Self.publicGroup(grant.uri) else { continue }
      let isAsked = wanted.contains { Self.publicGroup($0.uri) == group && Self.covers($0, grant) }
      if !isAsked { return .dropped(found: "\(grant.permission) for \(group)") }
    }
    for grant in wanted where !shown.contains(where: { Self.covers($0, grant) && Self.isSameGrantee($0, grant) }) {
      // An e-mail address is returned as the account's id.
      guard grant.id != nil || grant.uri != nil else { return .unseen }
      return .dropped(found: nil)
    }
    if wanted.isEmpty { return canned == "private" ? .kept : .unseen }
    return .kept
  }

  /// The grants of a canned ACL; nil if a list of grants cannot show it.
  private func grants(_ canned: String?) -> [GetObjectSettings.Grant] {
    switch canned {
    case "public-read": return [.init(permission: "READ", uri: Self.everybody)]
    case "public-read-write":
      return [.init(permission: "READ", uri: Self.everybody), .init(permission: "WRITE", uri: Self.everybody)]
    case "authenticated-read": return [.init(permission: "READ", uri: Self.anyAccount)]
    default: break
    }
    return asked.fields.flatMap { field -> [GetObjectSettings.Grant] in
      let name = field.name.lowercased()
      guard let words = name.rest(after: HeaderName.grant)?.pieces(at: "-") else { return [] }
      let permission = words.joined(separator: "_").uppercased()
      return field.value.words(between: ",").map { Self.grantee(ASCII.trimmed(String($0)), permission) }
    }
  }

  /// A grantee: `id="…"`, `uri="…"` or `emailAddress="…"`.
  private static func grantee(_ text: String, _ permission: String) -> GetObjectSettings.Grant {
    let words = text.pieces(at: "=", maxSplits: 1).map { ASCII.trimmed(String($0)) }
    let value =
      words.count > 1 ? String(decoding: words[1].utf8.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self) : ""
    switch words.first?.lowercased() {
    case "id": return .init(permission: permission, id: value)
    case "uri": return .init(permission: permission, uri: value)
    default: return .init(permission: permission)
    }
  }

  /// The group's name, from the last part of the URI, because stores write different URIs.
  private static func publicGroup(_ uri: String?) -> String? {
    guard let name = uri?.words(between: "/").last.map(String.init) else { return nil }
    return ["AllUsers", "AuthenticatedUsers"].contains(name) ? name : nil
  }

  private static func covers(_ a: GetObjectSettings.Grant, _ b: GetObjectSettings.Grant) -> Bool {
    let permission = a.permission.uppercased()
    return permission == "FULL_CONTROL" || permission.utf8.elementsEqual(b.permission.uppercased().utf8)
  }

  private static func isSameGrantee(_ a: GetObjectSettings.Grant, _ b: GetObjectSettings.Grant) -> Bool {
    if let id = b.id { return a.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false }
    guard let uri = b.uri else { return false }
    if let group = publicGroup(uri) { return publicGroup(a.uri) == group }
    return a.uri.map { $0.utf8.elementsEqual(uri.utf8) } ?? false
  }
}
