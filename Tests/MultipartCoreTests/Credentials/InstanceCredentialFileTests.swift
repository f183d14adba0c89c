import Foundation
import MultipartCore
import Support
import Testing

@Suite("Instance credentials between runs")
struct InstanceCredentialFileTests {
  private let folder: TemporaryDirectory
  private let server: MetadataServer

  init() throws {
    folder = try TemporaryDirectory()
    server = try MetadataServer(.instance(keys: InstanceMetadataTests.keys), token: "s")
  }

  private var state: String { folder.path("a/state") }
  private var file: String { state + "/instance" }

  /// One run, `later` seconds after the first.
  private func run(later: Int64 = 0, address: String? = nil) async throws -> InstanceMetadataProvider {
    let today = try CredentialWorld()
    var world = today.world
    world.now = { Timestamp(seconds: CredentialWorld.now.seconds + later) }
    let metadata = InstanceMetadata(
      services: ServiceClient(transport: today.services.transport, world: world),
      environment: InstanceMetadataTests.patient(address ?? server.url))
    return InstanceMetadataProvider(metadata: metadata, world: world, stateFolder: state)
  }

  private var questions: Int { server.asked.count }

  @Test("a run soon after another asks nothing, and its credentials are the same")
  func kept() async throws {
    let first = try await run().credentials()
    #expect(questions == 3)
    let second = try await run(later: 600).credentials()
    #expect(second == first)
    #expect(questions == 3)
  }

  @Test("the file and its folder are for this user alone")
  func modes() async throws {
    _ = try await run().credentials()
    func mode(_ path: String) throws -> Int {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
    }
    #expect(try mode(file) == 0o600)
    #expect(try mode(state) == 0o700)
  }

  @Test("a run that asks a second time was refused with what was kept, and gets what the service has now")
  func second() async throws {
    _ = try await run().credentials()
    let later = try await run(later: 60)
    _ = try await later.credentials()
    #expect(questions == 3)
    var keys = InstanceMetadataTests.keys
    keys.id = "ASIANEW"
    server.set(MetadataServer.rolePath + "builder", .init(200, keys.json))
    #expect(try await later.credentials()?.accessKeyID == "ASIANEW")
    // And the next run knows them.
    #expect(try await run(later: 90).credentials()?.accessKeyID == "ASIANEW")
  }

  @Test("what is old, ends soon, is of the future, or of another endpoint is not used", arguments: [901, 21_000, -1])
  func stale(later: Int64) async throws {
    _ = try await run().credentials()
    _ = try await run(later: later).credentials()
    #expect(questions == 6)
  }

  @Test("another endpoint has credentials of its own")
  func otherEndpoint() async throws {
    _ = try await run().credentials()
    var keys = InstanceMetadataTests.keys
    keys.id = "ASIAOTHER"
    let other = try MetadataServer(.instance(keys: keys), token: "o")
    #expect(try await run(later: 1, address: other.url).credentials()?.accessKeyID == "ASIAOTHER")
  }

  @Test("what another machine, or this one before its start, has kept is not used")
  func otherMachine() async throws {
    _ = try await run().credentials()
    let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains(boot))
    try text.replacing(boot, with: "00000000-0000-0000-0000-000000000000").write(
      toFile: file, atomically: false, encoding: .utf8)
    _ = try await run(later: 1).credentials()
    #expect(questions == 6)
  }

  @Test("a file that is cut, garbled, foreign or open to others' writing is passed over and replaced")
  func broken() async throws {
    _ = try await run().credentials()
    let whole = try Data(contentsOf: URL(fileURLWithPath: file))
    var asked = 3
    for bad in [
      whole.prefix(whole.count - 1), whole.prefix(40), Data(), Data([0xFF, 0xFE, 0x0A]),
      Data(repeating: 0x0A, count: 100_000), Data(String(repeating: "9", count: 400).utf8),
    ] {
      try bad.write(to: URL(fileURLWithPath: file))
      _ = try await run(later: 1).credentials()
      asked += 3
      #expect(questions == asked, "\(bad.count)")
    }
    chmod(file, 0o666)
    _ = try await run(later: 1).credentials()
    asked += 3
    #expect(questions == asked)
  }

  @Test("each cut of the file is seen")
  func cuts() async throws {
    _ = try await run().credentials()
    let whole = try Data(contentsOf: URL(fileURLWithPath: file))
    // The last line break of the file alone may go.
    for count in stride(from: 0, to: whole.count - 1, by: 7) {
      try whole.prefix(count).write(to: URL(fileURLWithPath: file))
      let before = questions
      _ = try await run(later: 1).credentials()
      #expect(questions == before + 3, "\(count)")
    }
  }

  @Test("a state folder that cannot be written costs nothing but the next question")
  func unwritable() async throws {
    try folder.write("not a folder", to: "a")
    #expect(try await run().credentials()?.accessKeyID == "ASIAEC2")
  }
}
