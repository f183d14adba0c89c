import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Objects whose ETag does not show that they were replaced: it is empty, or always the same.
@Suite("Downloads of objects without a telling ETag", .crowd) struct GetIdentityTests {
  private static let etags = ["", "always the same"]
  private let get = ["get", "s3://bucket/key", "target", "--part-size", "640K", "--concurrency", "1", "--json"]

  private func box() throws -> BlackBox { try BlackBox(faults: []) }

  private func put(_ box: BlackBox, _ key: String, _ bytes: [UInt8], etag: String) {
    box.fake.putObject(key, bytes: bytes, parts: [], etag: etag)
  }

  @Test("What is left of an object that was replaced since is not used", arguments: etags)
  func resumed(_ etag: String) async throws {
    let box = try box()
    put(box, "key", randomBytes(3 * mebi, seed: 1), etag: etag)
    box.fake.setFaults([
      Fault(.init(.getObject, rangeFrom: 2 * 640 << 10), .error(status: 503, code: "SlowDown"))
    ])
    #expect(try await box.run(get + ["--retries", "1"]).status == 75)
    let bytes = randomBytes(3 * mebi, seed: 2)
    box.fake.setClockOffset(60)
    put(box, "key", bytes, etag: etag)
    box.fake.setFaults([])
    let next = try await box.run(get)
    #expect(next.status == 0 && next.json["bytes_resumed"] as? Int == 0, "\(next.output) \(next.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("An object that is replaced while it is downloaded is 65", arguments: etags)
  func replaced(_ etag: String) async throws {
    let box = try box()
    put(box, "key", randomBytes(3 * mebi, seed: 1), etag: etag)
    let gate = box.binary.home.path + "/gate"
    try Data().write(to: URL(fileURLWithPath: gate))
    box.fake.setFaults([Fault(.init(.getObject, nth: 3), .hold(file: gate, stage: .beforeBody))])
    let child = try box.start(get + ["--hedge", "off"])
    try await until("a range is held back") { child.ended || box.fake.requests(.getObject).count > 2 }
    box.fake.setClockOffset(60)
    put(box, "key", randomBytes(3 * mebi, seed: 2), etag: etag)
    try FileManager.default.removeItem(atPath: gate)
    let result = await child.wait()
    #expect(result.status == 65 && result.errors.contains("replaced while it was"), "\(result.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path("")).isEmpty)
  }

  @Test(
    "A run of many leaves a file that it has downloaded alone, but not if the object has another size or time now",
    arguments: etags)
  func many(_ etag: String) async throws {
    for (size, then) in [(11, 0), (11, 60), (22, 0)] {
      let box = try box()
      put(box, "p/a", randomBytes(11, seed: 1), etag: etag)
      put(box, "p/b", [1], etag: etag)
      let many = ["get", "-r", "s3://bucket/p/", "to"]
      box.fake.setFaults([Fault(.init(.getObject, key: "p/b"), .error(status: 409, code: "InvalidRequest"))])
      #expect(try await box.run(many).status == 69)
      box.fake.setClockOffset(Int64(then))
      if (size, then) != (11, 0) { put(box, "p/a", randomBytes(size, seed: 2), etag: etag) }
      box.fake.setFaults([])
      let next = try await box.run(many)
      let isSame = (size, then) == (11, 0)
      #expect(next.status == (isSame ? 0 : 73), "\(size) \(then) \(next.output) \(next.errors)")
      #expect(next.output.contains("unchanged") == isSame, "\(next.output)")
    }
  }

  @Test(
    "Another version than the listed one is refused, also if the object comes in one request", arguments: [11, mebi])
  func version(_ size: Int) async throws {
    let box = try box()
    put(box, "p/a", randomBytes(size, seed: 1), etag: "always the same")
    let line = #"{"key":"p/a","size":\#(size),"etag":"\"always the same\"","version_id":"V1"}"#
    try box.files.write(line + "\n", to: "list.jsonl")
    let result = try await box.run("get", "--manifest", "list.jsonl", "s3://bucket/p/", "to")
    #expect(result.status == 69 && result.errors.contains("a different version"), "\(result.output) \(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("to/a")))
  }

  @Test("The other names of a part file keep their bytes, and a link in its place is named")
  func links() async throws {
    let box = try box()
    let bytes = randomBytes(3 * mebi, seed: 1)
    box.fake.putObject("key", bytes: bytes)
    box.fake.setFaults([
      Fault(.init(.getObject, rangeFrom: 2 * 640 << 10), .error(status: 503, code: "SlowDown"))
    ])
    #expect(try await box.run(get + ["--retries", "1"]).status == 75)
    let names = try FileManager.default.contentsOfDirectory(atPath: box.files.path(""))
    let part = try #require(names.first { $0.hasSuffix(".s3up-part") })
    #expect(link(box.files.path(part), box.files.path("copy")) == 0)
    let before = try box.files.read("copy")
    box.fake.setFaults([])
    #expect(try await box.run(get).status == 0)
    #expect(try box.files.read("target") == bytes)
    #expect(try box.files.read("copy") == before)
    #expect(symlink(box.files.path("copy"), box.files.path(part)) == 0)
    let refused = try await box.run(get + ["--overwrite"])
    #expect(refused.status == 73 && refused.errors.contains("is taken"), "\(refused.errors)")
    #expect(try box.files.read("copy") == before)
  }
}
