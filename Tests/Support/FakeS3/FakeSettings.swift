import Foundation
@testable import MultipartCore

/// Properties that have their own documents: ACL, tags, retention, legal hold.
extension FakeServer {
  func settings(of object: FakeObject, _ route: FakeRoute) -> HTTPAnswer {
    let headers = object.headers
    switch route.operation {
    case .getObjectTagging:
      let tags = (headers["x-amz-tagging"] ?? "").split(separator: "&").map { pair in
        let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
          $0.removingPercentEncoding ?? String($0)
        }
        return XMLNode("Tag", [XMLNode("Key", words[0]), XMLNode("Value", words.count > 1 ? words[1] : "")])
      }
      return HTTPAnswer(200, xml: XMLNode("Tagging", [XMLNode("TagSet", tags)]))
    case .getObjectRetention:
      guard let mode = headers["x-amz-object-lock-mode"] else { return noLock }
      let until = headers["x-amz-object-lock-retain-until-date"] ?? ""
      return HTTPAnswer(
        200, xml: XMLNode("Retention", [XMLNode("Mode", mode), XMLNode("RetainUntilDate", until)]))
    case .getObjectLegalHold:
      guard let status = headers["x-amz-object-lock-legal-hold"] else { return noLock }
      return HTTPAnswer(200, xml: XMLNode("LegalHold", [XMLNode("Status", status)]))
    default:
      return HTTPAnswer(
        200,
        xml: XMLNode(
          "AccessControlPolicy",
          [XMLNode("AccessControlList", Self.grants(headers, state.with { $0.options.letsEverybodyRead }))]))
    }
  }

  private var noLock: HTTPAnswer {
    let (status, code) = state.with { $0.options.noLock }
    return HTTPAnswer(status, xml: XMLNode("Error", [XMLNode("Code", code), XMLNode("Message", "")]))
  }

  private static func grants(_ headers: HeaderList, _ isOpen: Bool) -> [XMLNode] {
    let everybody = "http://acs.amazonaws.com/groups/global/AllUsers"
    var grants = [grant("FULL_CONTROL", "ID", "owner")]
    if isOpen { grants.append(grant("READ", "URI", everybody)) }
    switch headers["x-amz-acl"] {
    case "public-read": grants.append(grant("READ", "URI", everybody))
    case "public-read-write":
      grants += [grant("READ", "URI", everybody), grant("WRITE", "URI", everybody)]
    case "authenticated-read":
      grants.append(grant("READ", "URI", "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"))
    default: break
    }
    for (name, permission) in [
      ("read", "READ"), ("read-acp", "READ_ACP"), ("write-acp", "WRITE_ACP"), ("full-control", "FULL_CONTROL"),
    ] {
      for text in (headers["x-amz-grant-\(name)"] ?? "").split(separator: ",") {
        let words = text.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: [" ", "\""]) }
        let type = words[0] == "uri" ? "URI" : "ID"
        grants.append(grant(permission, type, words[0] == "emailAddress" ? "by-mail" : words[1]))
      }
    }
    return grants
  }

  private static func grant(_ permission: String, _ type: String, _ who: String) -> XMLNode {
    XMLNode("Grant", [XMLNode("Grantee", [XMLNode(type, who)]), XMLNode("Permission", permission)])
  }
}
