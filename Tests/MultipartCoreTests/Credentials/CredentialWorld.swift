import Foundation
@testable import MultipartCore
import Support

/// The shared parts of the providers' tests: a world in which short sleeps take no time and the clock is at `now`, its
/// log, and services over their own transport.
struct CredentialWorld: Sendable {
  static let now = Timestamp(seconds: 1_750_000_000)

  let world: World
  let services: ServiceClient
  private let lines = Guarded<[String]>([])

  /// With an `uptime` sleeps take time; without one the clock stands still. The home exists as long as the world is in
  /// use.
  init(
    _ home: ConfigHome? = nil, _ variables: [String: String] = [:], uptime: (@Sendable () -> Duration)? = nil
  ) throws {
    let lines = lines
    let environment = home?.environment(variables) ?? variables
    world = World(
      now: { Self.now }, uptime: uptime ?? { .zero },
      sleep: { if uptime != nil || $0 > .seconds(30) { try await Task.sleep(for: $0) } }, random: { 0.5 },
      environment: environment,
      log: { _, message in
        let text = withExtendedLifetime(home) { message() }
        lines.with { $0.append(text.description) }
      })
    services = ServiceClient(transport: try plainTransport(), world: world)
  }

  /// The program's chain, without a container or a machine that provides credentials.
  func chain(
    profile: String? = nil, _ change: (inout CredentialContext) -> Void = { _ in }
  ) -> CredentialChain {
    var context = CredentialContext(services: services)
    change(&context)
    return .standard(context, profile: ProfileChoice(option: profile, environment: world.environment))
  }

  /// All messages that a run with `-vv` would have shown.
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

/// The failure of work that must fail.
func failure<Value: Sendable>(_ work: () async throws(Failure) -> Value) async -> Failure? {
  do throws(Failure) {
    _ = try await work()
    return nil
  } catch {
    return error
  }
}
