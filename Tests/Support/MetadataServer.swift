@testable import MultipartCore

/// A metadata service whose script is data: the answers for each path in order, the last of which is repeated. Other paths
/// are 404. With `token` it behaves like IMDSv2: a token must be requested by PUT, and requests with another one are 401.
///
///     let imds = try MetadataServer(.instance(role: "builder", keys: .builder), token: "session-1")
///     … AWS_EC2_METADATA_SERVICE_ENDPOINT=imds.url …
///     #expect(imds.asked.map(\.path) == ["/latest/api/token", …])
package final class MetadataServer: Sendable {
  package typealias Script = [String: [LocalService.Reply]]

  package static let tokenPath = "/latest/api/token"
  package static let rolePath = "/latest/meta-data/iam/security-credentials/"

  private let service: LocalService
  private let state: Guarded<State>

  private struct State: Sendable {
    var script: Script
    var token: String?
    var refuses: Set<String> = []
  }

  package init(_ script: Script, token: String? = nil, address: String = "127.0.0.1", port: Int = 0) throws {
    let state = Guarded(State(script: script, token: token))
    self.state = state
    service = try LocalService(address: address, port: port) { asked in state.with { Self.reply(asked, &$0) } }
  }

  package var url: String { service.url }
  package var asked: [LocalService.Asked] { service.asked }
  package var paths: [String] { service.asked.map(\.path) }

  /// Sets the session token that is issued from now on; the previous one becomes invalid.
  package func setToken(_ token: String) { state.with { $0.token = token } }

  package func set(_ path: String, _ replies: LocalService.Reply...) { state.with { $0.script[path] = replies } }

  private static func reply(_ asked: LocalService.Asked, _ state: inout State) -> LocalService.Reply {
    if state.script[asked.path] == nil, let token = state.token {
      if asked.path == tokenPath, asked.method == "PUT" {
        guard let seconds = asked.headers["x-aws-ec2-metadata-token-ttl-seconds"] else { return .init(400) }
        return .init(200, token, headers: ["X-Aws-Ec2-Metadata-Token-Ttl-Seconds": seconds])
      }
    }
    if asked.path != tokenPath, let token = state.token, asked.headers["x-aws-ec2-metadata-token"] != token {
      return .init(401, "<html>Unauthorized</html>")
    }
    guard var replies = state.script[asked.path], let next = replies.first else { return .init(404) }
    if replies.count > 1 { replies.removeFirst() }
    state.script[asked.path] = replies
    return next
  }
}

extension MetadataServer {
  /// The keys that a service issues.
  package struct Keys: Sendable {
    package var id: String
    package var secret: String
    package var token: String?
    package var expiration: String?

    package init(id: String, secret: String, token: String? = nil, expiration: String? = nil) {
      self.id = id
      self.secret = secret
      self.token = token
      self.expiration = expiration
    }

    package var json: String {
      var fields = [("Code", "Success"), ("Type", "AWS-HMAC"), ("AccessKeyId", id), ("SecretAccessKey", secret)]
      if let token { fields.append(("Token", token)) }
      if let expiration { fields.append(("Expiration", expiration)) }
      return "{" + fields.map { "\"\($0.0)\" : \"\($0.1)\"" }.joined(separator: ",\n ") + "}"
    }
  }
}

extension MetadataServer.Script {
  /// An EC2 machine with a role.
  package static func instance(
    role: String = "builder", keys: MetadataServer.Keys, region: String = "eu-central-1"
  ) -> Self {
    [
      MetadataServer.rolePath: [.init(200, role)], MetadataServer.rolePath + role: [.init(200, keys.json)],
      "/latest/meta-data/placement/region": [.init(200, region)],
    ]
  }
}
