@testable import MultipartCore
import Support
import Testing

/// A run keeps to the source of its first credentials.
@Suite(.timeLimit(.minutes(15))) struct KeptSourceTests {
  private static func keys(_ id: String) -> String {
    "[default]\naws_access_key_id = \(id)\naws_secret_access_key = secret\n"
  }

  /// The machine that the run is on, with a role of its own.
  private struct Machine: CredentialProvider {
    let asked = Guarded(0)
    var place: String { "the machine" }

    func credentials() async throws(Failure) -> Credentials? {
      asked.with { $0 += 1 }
      return Credentials(accessKeyID: "MACHINE", secretAccessKey: Secret("s"), source: place)
    }
  }

  private static let refusal = Failure(.credentialsExpired, "the store refused the token", s3Code: "ExpiredToken")

  /// What a program that rewrites a file in place leaves in it for a moment.
  struct Moment: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var name = ".aws/credentials"
    var text: String
  }

  static let moments = [
    Moment(testDescription: "empty", text: ""),
    Moment(testDescription: "without its profile", text: "[other]\n"),
    Moment(testDescription: "an id without its secret", text: "[default]\naws_access_key_id = NEW\n"),
    Moment(testDescription: "cut in a header", text: "[defa"),
    Moment(testDescription: "a config cut in a header", name: ".aws/config", text: "[profile "),
    Moment(
      testDescription: "a role without its source", name: ".aws/config",
      text: "[default]\nrole_arn = arn:aws:iam::1:role/r\n"),
  ]

  @Test("A file that is half written at a renewal is read again, and no other source is used", arguments: moments)
  func halfWritten(_ moment: Moment) async throws {
    let home = try ConfigHome(config: "", credentials: Self.keys("OLD"))
    let machine = Machine()
    let chain = try CredentialWorld(home).chain { $0.instance = machine }
    let looks = Guarded(0)
    var world = try CredentialWorld(home).world
    world.sleep = { _ in
      guard
        looks.with({ looks in
          looks += 1; return looks == 2
        })
      else { return }
      try home.write([], to: ".aws/config")
      try home.write(Array(Self.keys("NEW").utf8), to: ".aws/credentials")
    }
    let keeper = CredentialKeeper(world: world) { () async throws(Failure) in try await chain.credentials() }
    let held = try await keeper.current()
    #expect(held.credentials.accessKeyID == "OLD")
    try home.write(Array(moment.text.utf8), to: moment.name)
    #expect(try await keeper.renew(after: held.generation, cause: Self.refusal))
    #expect(try await keeper.current().credentials.accessKeyID == "NEW")
    #expect(looks.with { $0 } == 2)
    #expect(machine.asked.with { $0 } == 0)
  }

  @Test("A source that has nothing at a renewal is a failure that names it, and no other source is asked")
  func gone() async throws {
    let home = try ConfigHome(credentials: Self.keys("OLD"))
    let machine = Machine()
    let chain = try CredentialWorld(home).chain { $0.instance = machine }
    #expect(try await chain.credentials().accessKeyID == "OLD")
    try home.write([], to: ".aws/credentials")
    let found = await failure { () async throws(Failure) in try await chain.credentials() }
    #expect(found?.code == .credentials && found?.mayAppear == true)
    #expect(found?.message.hasPrefix("no new credentials in profile default in ~/.aws/credentials") == true)
    #expect(machine.asked.with { $0 } == 0)
    try home.write(Array(Self.keys("NEW").utf8), to: ".aws/credentials")
    #expect(try await chain.credentials().accessKeyID == "NEW")
    // At the first look the machine is as good as any.
    try home.write([], to: ".aws/credentials")
    #expect(
      try await CredentialWorld(home).chain { $0.instance = machine }.credentials().accessKeyID == "MACHINE")
  }
}
