import Foundation
import MultipartCore
import Support

/// What the providers' tests share: a world whose sleeps take no time, whose clock stands at `now`, and that keeps what
/// was logged; services over a transport of their own.
struct CredentialWorld: Sendable {
  static let now = Timestamp(seconds: 1_750_000_000)

  let world: World
  let services: ServiceClient
  private let lines = Guarded<[String]>([])

  init(_ environment: [String: String] = [:], now: Timestamp = Self.now) throws {
    let lines = lines
    world = World(
      now: { now }, uptime: { .zero }, sleep: { _ in }, random: { 0.5 }, environment: environment,
      log: { _, message in
        let text = message()
        lines.with { $0.append(text) }
      })
    services = ServiceClient(transport: try plainTransport(), world: world)
  }

  /// All that a run with `-vv` would have shown.
  var log: String { lines.with { $0.joined(separator: "\n") } }
}

enum STSAnswer {
  static func credentials(
    _ action: String = "AssumeRole", id: String = "ASIAROLE", secret: String = "role/secret+hunter2",
    token: String = "token-hunter2", expiration: String = "2025-06-15T16:06:40Z"
  ) -> LocalService.Reply {
    .init(
      200,
      """
      <\(action)Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><\(action)Result><AssumedRoleUser>
      <Arn>arn:aws:sts::1:assumed-role/r/s</Arn></AssumedRoleUser><Credentials><AccessKeyId>\(id)</AccessKeyId>
      <SecretAccessKey>\(secret)</SecretAccessKey><SessionToken>\(token)</SessionToken>
      <Expiration>\(expiration)</Expiration></Credentials></\(action)Result>
      <ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></\(action)Response>
      """)
  }

  static func refusal(_ status: Int, _ code: String, _ message: String = "no", headers: HeaderList = [:])
    -> LocalService.Reply
  {
    .init(
      status,
      """
      <ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>\(code)</Code>
      <Message>\(message)</Message></Error><RequestId>r-7</RequestId></ErrorResponse>
      """, headers: headers)
  }
}

/// The failure of what should fail.
func failure<Value: Sendable>(_ work: () async throws(Failure) -> Value) async -> Failure? {
  do throws(Failure) {
    _ = try await work()
    return nil
  } catch {
    return error
  }
}
