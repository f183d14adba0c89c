import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite("No key leaves the folder, and one that cannot be a file is refused", .crowd) struct GetManySafetyTests {
  private func events(_ result: ChildProcess.Result) -> [[String: Any]] {
    result.lines.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
  }

  /// Every name below the box's folder, including hidden ones.
  private func names(_ box: BlackBox) -> [String] {
    (FileManager.default.subpaths(atPath: box.files.path) ?? []).sorted()
  }

  static let hostile: [(key: String, word: String)] = [
    ("../out", "\"..\""), ("a/../../out", "\"..\""), ("./x", "\".\""), ("a/./x", "\".\""), ("..", "\"..\""),
    (".", "\".\""), ("/etc/passwd", "an empty component"), ("//x", "an empty component"),
    ("a//b", "an empty component"),
    ("folder/", "ends with a slash"), ("nul\0byte", "zero byte"),
    (String(repeating: "n", count: 256), "has 256 bytes"), ("d/" + String(repeating: "ä", count: 128), "has 256 bytes"),
    (".x.0123abcd.s3up-part", "unfinished download"),
    ("file/below", "its folder would take the place of the object file"),
  ]

  @Test("each such key is reported with its reason, and the others are downloaded")
  func hostile() async throws {
    let box = try BlackBox()
    for (key, _) in Self.hostile { box.fake.putObject("p/" + key, bytes: [1]) }
    let good = [
      "file", "file-more", "a/b", "...", "..a", "a../b", " ", "-r", "ä/ö", "line\nbreak", "back\\slash", "~",
      String(repeating: "n", count: 255), "c/" + Array(repeating: "d", count: 400).joined(separator: "/"),
    ]
    for key in good { box.fake.putObject("p/" + key, bytes: Array(key.utf8)) }
    box.fake.putObject("p/mark/", bytes: [])
    try FileManager.default.createDirectory(atPath: box.files.path("in"), withIntermediateDirectories: true)
    let result = try await box.run("get", "-r", "s3://bucket/p/", "in/back", "--json", "--failed-to", "failed")
    #expect(result.status == 73, "\(result.errors)")
    let events = events(result)
    for (key, word) in Self.hostile {
      let message = events.first { $0["event"] as? String == "failed" && $0["key"] as? String == "p/" + key }
      #expect((message?["message"] as? String)?.contains(word) == true, "\(key): \(String(describing: message))")
    }
    #expect(events.last?["failed"] as? Int == Self.hostile.count)
    #expect(
      events.last?["downloaded"] as? Int == good.count && events.last?["skipped"] as? Int == 1, "\(events.last ?? [:])")
    for key in good { #expect((try? box.files.read("in/back/" + key)) == Array(key.utf8), "\(key)") }
    let outside = names(box).filter { !$0.hasPrefix("in/back") && $0 != "in" && $0 != "failed" }
    #expect(outside == [], "\(outside)")
  }

  @Test("links that another user has planted lead nowhere: as a folder, as a file, and with every option")
  func links() async throws {
    let box = try BlackBox()
    for key in ["sub/deep/x", "file", "through", "good"] { box.fake.putObject("p/" + key, bytes: Array(key.utf8)) }
    try box.files.write([7], to: "outside/x")
    try box.files.write([8], to: "target")
    try box.files.write([9], to: "back/own")
    func link(_ name: String, _ target: String) throws {
      try FileManager.default.createSymbolicLink(
        atPath: box.files.path("back/" + name), withDestinationPath: box.files.path(target))
    }
    try link("sub", "outside")
    try link("file", "target")
    try link("through", "nowhere")
    for options in [[], ["--overwrite"], ["--skip-same"], ["--if-newer"]] as [[String]] {
      let result = try await box.run(["get", "-r", "s3://bucket/p/", "back", "--exclude", "good"] + options)
      #expect(result.status == 73, "\(options): \(result.errors)")
      #expect(result.errors.components(separatedBy: "symbolic link").count == 4, "\(options): \(result.errors)")
    }
    try await box.run("get", "-r", "s3://bucket/p/", "back", "--include", "good").expectSuccess()
    #expect(try box.files.read("outside/x") == [7] && box.files.read("target") == [8])
    #expect(!FileManager.default.fileExists(atPath: box.files.path("nowhere")))
    #expect(!FileManager.default.fileExists(atPath: box.files.path("outside/deep")))
  }

  @Test("a file in the way of a folder, or a folder in the way of a file, is reported as what it is, and stays")
  func inTheWay() async throws {
    let box = try BlackBox()
    for key in ["a/x", "b", "pipe", "c"] { box.fake.putObject("p/" + key, bytes: Array(key.utf8)) }
    try box.files.write([7], to: "back/a")
    try box.files.write([8], to: "back/b/inner")
    #expect(mkfifo(box.files.path("back/pipe"), 0o600) == 0)
    let result = try await box.run("get", "-r", "s3://bucket/p/", "back", "--overwrite")
    #expect(result.status == 73, "\(result.errors)")
    for word in ["a file is in the place of a folder", "a folder is in the place", "other than a regular file"] {
      #expect(result.errors.contains(word), "\(word): \(result.errors)")
    }
    #expect(try box.files.read("back/a") == [7] && box.files.read("back/b/inner") == [8])
    #expect(try box.files.read("back/c") == Array("c".utf8))
    try box.files.write([1], to: "plain")
    try await box.run("get", "-r", "s3://bucket/p/", "plain").expectFailure(73, "not a folder")
  }

  @Test("of two keys with one path the first is downloaded, whatever order their list has")
  func meeting() async throws {
    let box = try BlackBox()
    for key in ["x/same", "y/same", "d", "d/e"] { box.fake.putObject(key, bytes: Array(key.utf8)) }
    let named = try await box.run("get", "s3://bucket/x/same", "s3://bucket/y/same", "named", "--overwrite")
    #expect(named.status == 73 && named.errors.contains("has the same path"), "\(named.errors)")
    #expect(try box.files.read("named/same") == Array("x/same".utf8))
    let trees = try await box.run("get", "-r", "s3://bucket/x", "s3://bucket/y", "trees", "--overwrite")
    #expect(trees.status == 73 && trees.errors.contains("has the same path"), "\(trees.errors)")
    #expect(try box.files.read("trees/same") == Array("x/same".utf8))
    try box.files.write("d/e\nd\n", to: "list")
    let listed = try await box.run("get", "--files-from", "list", "s3://bucket", "listed", "--overwrite")
    #expect(listed.status == 73, "\(listed.errors)")
    #expect(try box.files.read("listed/d/e") == Array("d/e".utf8))
  }

  @Test(
    "of an object and one below it the first is downloaded, however slow it is, and --dry-run reports that too")
  func inEachOther() async throws {
    let box = try BlackBox()
    for key in ["d", "d-0", "d/e"] { box.fake.putObject("p/" + key, bytes: Array(key.utf8)) }
    let word = "its folder would take the place of the object d"
    let planned = try await box.run("get", "-r", "s3://bucket/p/", "planned", "--dry-run")
    #expect(planned.status == 73 && planned.errors.contains(word), "\(planned.errors)")
    try box.files.write("d\nd/e\n", to: "list")
    let gate = try box.files.write([], to: "gate")
    box.fake.setFaults([Fault(.init(.getObject, key: "p/d"), .hold(file: gate, stage: .beforeAnswer))])
    let child = try box.start(["get", "--files-from", "list", "s3://bucket/p/", "listed", "--json"])
    try await until("the second has ended") { String(decoding: child.stdout, as: UTF8.self).contains("p/d/e") }
    try FileManager.default.removeItem(atPath: gate)
    let listed = await child.wait()
    #expect(listed.status == 73 && listed.output.contains(word), "\(listed.output) \(listed.errors)")
    #expect(try box.files.read("listed/d") == Array("d".utf8))
  }

  @Test("a report of the run is not replaced by an object, nor an object by it")
  func report() async throws {
    let box = try BlackBox()
    for key in ["failed", "b"] { box.fake.putObject("p/" + key, bytes: Array(key.utf8)) }
    try FileManager.default.createDirectory(atPath: box.files.path("back"), withIntermediateDirectories: true)
    let result = try await box.run("get", "-r", "s3://bucket/p/", "back", "--failed-to", "back/failed")
    #expect(result.status == 64 && result.errors.contains("--failed-to"), "\(result.errors)")
    #expect(try box.files.read("back/failed") == Array("failed\n".utf8))
    #expect(try box.files.read("back/b") == Array("b".utf8))
  }

  @Test("modes are what the umask leaves, for files and folders")
  func modes() async throws {
    let box = try BlackBox()
    box.fake.putObject("p/d/x", bytes: [1])
    let result = try await box.shell("umask 027; \"$S3UP\" get -r s3://bucket/p/ back")
    #expect(result.status == 0, "\(result.errors)")
    for (name, mode) in [("back", 0o750), ("back/d", 0o750), ("back/d/x", 0o640)] {
      var status = stat()
      #expect(stat(box.files.path(name), &status) == 0 && Int(status.st_mode & 0o7777) == mode, "\(name)")
    }
  }
}
