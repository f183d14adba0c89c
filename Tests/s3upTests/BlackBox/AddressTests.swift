import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// A name whose addresses are in a hosts file of the test (root only).
struct PrivateHosts {
  let file: String

  init(_ box: BlackBox) { file = box.files.path("hosts") }

  func set(_ address: String) throws {
    // Written in place: a mount shows the file, not its name.
    let handle = try #require(fopen(file, "w"))
    fputs("\(address) store.test\n", handle)
    fclose(handle)
  }

  /// Runs the program with the file in place of /etc/hosts.
  func start(_ box: BlackBox, _ words: [String]) throws -> ChildProcess {
    var environment = Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 }
    environment["S3UP"] = box.binary.path
    let line = "mount --bind \"$0\" /etc/hosts && exec \"$S3UP\" \"$@\""
    return try ChildProcess(
      Programs.find("unshare"), ["--mount", "sh", "-c", line, file] + words, environment: environment,
      directory: box.files.path)
  }

  static func possible() async -> Bool {
    guard geteuid() == 0, let box = try? BlackBox() else { return false }
    let hosts = PrivateHosts(box)
    guard (try? hosts.set("127.0.0.1")) != nil else { return false }
    return await (try? hosts.start(box, ["--version"]).wait())?.status == 0
  }
}

@Suite(.crowd) struct AddressTests {
  @Test(
    "If the server of a name is gone and the name has a new address, the upload continues there",
    .enabled("needs a mount", { await PrivateHosts.possible() }))
  func moves() async throws {
    var box = try BlackBox(faults: [Fault(.all, .error(status: 503, code: "SlowDown"))]) { $0.address = 0x7F00_0002 }
    let bytes = try box.sample("f", 11 * mebi)
    let hosts = PrivateHosts(box)
    try hosts.set("127.0.0.2")
    box.environment["AWS_ENDPOINT_URL_S3"] = "http://store.test:\(box.fake.port)"
    let child = try hosts.start(box, ["put", "f", "s3://bucket/k", "--part-size", "5M", "--retries", "6"])
    #expect(await box.fake.wait { !$0.isEmpty })
    let port = box.fake.port
    let other = try FakeS3(
      FakeOptions {
        $0.address = 0x7F00_0003; $0.port = port
      })
    box.fake.stop()
    try hosts.set("127.0.0.3")
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 0, "\(result.errors)")
    #expect(other.object("k")?.holds(bytes) == true)
  }
}
