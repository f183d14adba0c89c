import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite("Many objects are downloaded in one run", .crowd) struct GetManyTests {
  static let names = ["a.txt", "b.txt", "d/c.txt", "d/e/f.bin", "empty", "large", "z"]

  /// A box with the objects that `put -r` makes of a folder; `keep` is the unchanged original.
  private func box(_ change: (inout FakeOptions) -> Void = { _ in }) async throws -> BlackBox {
    let box = try BlackBox(faults: [], change)
    for (index, name) in Self.names.enumerated() {
      let size = name == "empty" ? 0 : name == "large" ? 9 * mebi : 1000 + index
      try box.sample("dir/\(name)", size, seed: UInt64(index))
    }
    try await box.run("put", "-r", "-q", "dir", "s3://bucket/p/").expectSuccess()
    return box
  }

  private func expectSame(
    _ box: BlackBox, _ names: [String] = Self.names, in folder: String,
    where location: SourceLocation = #_sourceLocation
  ) throws {
    for name in names {
      let bytes = try? box.files.read("\(folder)/\(name)")
      #expect(bytes == (try box.files.read("dir/\(name)")), "\(name)", sourceLocation: location)
    }
    #expect(try files(box, in: folder) == names.sorted(), sourceLocation: location)
  }

  /// Every file below a folder, including hidden ones.
  private func files(_ box: BlackBox, in folder: String) throws -> [String] {
    let root = box.files.path(folder)
    return (FileManager.default.subpaths(atPath: root) ?? []).filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: root + "/" + name, isDirectory: &isFolder) && !isFolder.boolValue
    }.sorted()
  }

  private func got(_ result: ChildProcess.Result) -> [String] {
    result.lines.filter { $0.hasPrefix("downloaded ") }.compactMap { $0.split(separator: " ").dropFirst(3).first }
      .map(String.init).sorted()
  }

  @Test(
    "a prefix becomes a folder, with or without a slash at the end; each file is proven, small ones by one request",
    arguments: ["p", "p/"])
  func tree(_ prefix: String) async throws {
    let box = try await box()
    let result = try await box.run("get", "-r", "s3://bucket/\(prefix)", "back")
    result.expectSuccess()
    try expectSame(box, in: "back")
    #expect(got(result) == Self.names.map { "back/" + $0 })
    #expect(result.lines.last?.hasPrefix("7 files downloaded (9.0 MiB") == true, "\(result.output)")
    #expect(result.lines.dropLast().allSatisfy { $0.contains("CRC64NVME") }, "\(result.output)")
    // The large object takes two ranges; a HEAD says all about the empty one.
    #expect(box.fake.requests(.getObject).count == 7)
    #expect(box.fake.requests(.headObject).map(\.key).sorted() == ["p/empty", "p/large"])
    #expect(box.fake.requests(.getObject).allSatisfy { $0.headers["if-match"] != nil })
    let json = try await box.run("get", "-r", "s3://bucket/\(prefix)", "json", "--json")
    json.expectSuccess()
    #expect(json.lines.count { $0.contains(#""event":"completed","destination":"json/"#) } == 7, "\(json.output)")
    #expect(json.lines.last?.contains(#""downloaded":7,"#) == true, "\(json.output)")
  }

  @Test("Names that are not UTF-8 come back as they were with --non-utf8 restore", arguments: [false, true])
  func oddNames(_ fromList: Bool) async throws {
    let box = try BlackBox()
    let names = #"'caf\351' '100%%' '%%41' '\377d/50%%\200' 'caf\303\251'"#
    let make = #"mkdir -p odd/$(printf '\377d'); for n in \#(names); do printf "$n" >"odd/$(printf "$n")"; done"#
    let shell = { (script: String) in
      try await ChildProcess(
        "/bin/sh", ["-ec", script], environment: Programs.environment(home: box.files.path), directory: box.files.path
      ).wait()
    }
    #expect(try await shell(make).status == 0)
    try await box.run("put", "-r", "-q", "odd", "s3://bucket/p/").expectSuccess()
    let keys = ["%41", "%FFd/50%25%80", "100%", "caf%E9", "café"]
    #expect(box.fake.objectCount == keys.count && keys.allSatisfy { box.fake.object("p/" + $0) != nil })
    let words: [String]
    if fromList {
      try box.files.write(keys.joined(separator: "\n") + "\n", to: "list")
      words = ["get", "--files-from", "list", "s3://bucket/p/"]
    } else {
      words = ["get", "-r", "s3://bucket/p/"]
    }
    try await box.run(words + ["back", "--non-utf8", "restore"]).expectSuccess()
    let difference = try await shell("diff -r odd back")
    #expect(difference.status == 0, "\(difference.output)")
    try await box.run("verify", "-r", "back", "s3://bucket/p/").expectSuccess()
    try await box.run(words + ["kept"]).expectSuccess()
    #expect(try files(box, in: "kept") == keys.sorted())
  }

  @Test("the whole bucket; several objects under their last names; keys of a list, also with NUL bytes")
  func sources() async throws {
    let box = try await box()
    try await box.run("get", "-r", "s3://bucket", "all/").expectSuccess()
    #expect(try files(box, in: "all") == Self.names.map { "p/" + $0 }.sorted())
    try await box.run("get", "s3://bucket/p/a.txt", "s3://bucket/p/d/c.txt", "named/").expectSuccess()
    #expect(try files(box, in: "named") == ["a.txt", "c.txt"])
    try box.files.write("d/c.txt\nz\nz\n", to: "list")
    try await box.run("get", "--files-from", "list", "s3://bucket/p", "listed").expectSuccess()
    try expectSame(box, ["d/c.txt", "z"], in: "listed")
    let zero = try await box.run(
      "get", "--files-from", "-", "-0", "s3://bucket/", "zero", input: .bytes(Array("p/a.txt\0p/z\0".utf8)))
    zero.expectSuccess()
    #expect(try files(box, in: "zero") == ["p/a.txt", "p/z"])
  }

  @Test("rules and shards select as they do for put: all shares together download each object once")
  func selection() async throws {
    let box = try await box()
    try await box.run("get", "-r", "s3://bucket/p", "chosen", "--include", "*.txt", "--exclude", "b*").expectSuccess()
    try expectSame(box, ["a.txt", "d/c.txt"], in: "chosen")
    var all: [String] = []
    for share in 1...3 {
      let result = try await box.run("get", "-r", "s3://bucket/p", "shares", "--shard", "\(share)/3")
      result.expectSuccess()
      all += got(result)
    }
    #expect(all.sorted() == Self.names.map { "shares/" + $0 })
    try expectSame(box, in: "shares")
    let before = box.fake.requests(.getObject).count
    let dry = try await box.run("get", "-r", "s3://bucket/p", "dry", "--dry-run", "--exclude", "d/")
    #expect(dry.status == 0 && dry.lines.count { $0.hasPrefix("would get s3://bucket/p/") } == 5, "\(dry.output)")
    #expect(dry.lines.last?.hasPrefix("5 files would be downloaded") == true)
    #expect(!FileManager.default.fileExists(atPath: box.files.path("dry")))
    #expect(box.fake.requests(.getObject).count == before)
  }

  @Test("an empty selection is 66, unless it is allowed, and makes no folder")
  func empty() async throws {
    let box = try await box()
    try await box.run("get", "-r", "s3://bucket/q", "none").expectFailure(66, "no object below", "--allow-empty")
    try await box.run("get", "-r", "s3://bucket/p", "none", "--include", "*.png")
      .expectFailure(66, "the rules leave nothing to download", "--allow-empty")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("none")))
    try await box.run("get", "-r", "s3://bucket/q", "none", "--allow-empty").expectSuccess()
  }

  @Test("failures are named, the others arrive, and the list of failures downloads only those")
  func failures() async throws {
    let box = try await box()
    box.fake.setFaults([Fault(Fault.Match(.getObject, key: "p/b.txt"), .error(status: 403, code: "AccessDenied"))])
    let result = try await box.run("get", "-r", "s3://bucket/p/", "back", "--failed-to", "failed")
    #expect(result.status == 77, "\(result.errors)")
    #expect(try box.files.read("failed") == Array("b.txt\n".utf8))
    #expect(result.errors.contains("s3up get --files-from failed s3://bucket/p/ back"), "\(result.errors)")
    try expectSame(box, Self.names.filter { $0 != "b.txt" }, in: "back")
    box.fake.setFaults([])
    let again = try await box.run("get", "--files-from", "failed", "s3://bucket/p/", "back")
    again.expectSuccess()
    #expect(got(again) == ["back/b.txt"])
    try expectSame(box, in: "back")
    box.fake.setFaults([
      Fault(Fault.Match(.getObject, key: "p/b.txt"), .error(status: 403, code: "AccessDenied")),
      Fault(Fault.Match(.getObject, key: "p/z"), .corruptAnswer),
    ])
    let two = try await box.run("get", "-r", "s3://bucket/p/", "two", "--json")
    #expect(two.status == 1, "\(two.errors)")
    #expect(two.lines.contains { $0.contains("\"key\":\"p/z\"") && $0.contains("\"exit\":65") }, "\(two.output)")
    try expectSame(box, Self.names.filter { $0 != "b.txt" && $0 != "z" }, in: "two")
    let fast = try await box.run("get", "-r", "s3://bucket/p/", "fast", "--fail-fast", "--concurrency", "1")
    #expect(fast.output.contains("the others were not completed"), "\(fast.output)")
  }

  @Test("an object that was replaced since it was listed arrives as it is now")
  func replaced() async throws {
    let box = try await box()
    let gate = try box.files.write([], to: "gate")
    box.fake.setFaults([Fault(Fault.Match(.getObject, key: "p/a.txt"), .hold(file: gate, stage: .beforeBody))])
    let child = try box.start(["get", "-r", "s3://bucket/p/", "back", "--include", "a.txt"])
    try await until("the object was asked for") { !box.fake.requests(.getObject).isEmpty }
    let bytes = try box.sample("dir/a.txt", 5000, seed: 77)
    box.fake.putObject("p/a.txt", bytes: bytes)
    box.fake.setFaults([])
    try FileManager.default.removeItem(atPath: gate)
    let result = await child.wait()
    result.expectSuccess()
    try expectSame(box, ["a.txt"], in: "back")
  }

  @Test("the same prefix twice is the same objects")
  func twice() async throws {
    let box = try await box()
    let once = try await box.run("get", "-r", "s3://bucket/p/", "back", "--json")
    let both = try await box.run("get", "-r", "s3://bucket/p/", "s3://bucket/p", "again", "--json")
    #expect(both.status == once.status && got(both) == got(once), "\(both.output) \(both.errors)")
  }

  @Test("an existing file is left, unless an option says what to do with it")
  func thereAlready() async throws {
    let box = try await box()
    try box.files.write(box.files.read("dir/a.txt"), to: "back/a.txt")
    try box.files.write([1, 2, 3], to: "back/z")
    let refused = try await box.run("get", "-r", "s3://bucket/p/", "back", "--include", "a.txt", "--include", "z")
    #expect(refused.status == 73 && refused.errors.contains("already exists"), "\(refused.errors)")
    #expect(try box.files.read("back/z") == [1, 2, 3])
    #expect(box.fake.requests(.getObject).isEmpty && box.fake.requests(.headObject).isEmpty)
    let same = try await box.run("get", "-r", "s3://bucket/p/", "back", "--skip-same")
    #expect(same.status == 73 && same.lines.contains { $0.hasPrefix("unchanged back/a.txt") }, "\(same.output)")
    let both = try await box.run("get", "-r", "s3://bucket/p/", "back", "--skip-same", "--overwrite", "--json")
    both.expectSuccess()
    #expect(both.lines.last?.contains(#""unchanged":6"#) == true && got(both).isEmpty, "\(both.output)")
    try expectSame(box, in: "back")
    let newer = try await box.run("get", "-r", "s3://bucket/p/", "back", "--if-newer")
    newer.expectSuccess()
    #expect(newer.lines.last?.hasPrefix("0 files downloaded, 7 skipped") == true, "\(newer.output)")
  }

  @Test(
    "after a kill the same command continues: existing files are not downloaded again, and half an object is resumed")
  func killed() async throws {
    let box = try await box()
    try box.sample("dir/large", 28 * mebi, seed: 5)
    try await box.run("put", "-q", "dir/large", "s3://bucket/p/large").expectSuccess()
    box.fake.setFaults([
      Fault(Fault.Match(.getObject, key: "p/large", from: 3), .stall(stage: .withinAnswer)),
      Fault(Fault.Match(.getObject, key: "p/z"), .stall(stage: .withinAnswer)),
    ])
    let arguments = ["get", "-r", "s3://bucket/p/", "back", "--part-size", "5M", "--json=all"]
    let process = try box.start(arguments)
    try await until("five files are there, and two ranges") {
      let ranges = String(decoding: process.stdout, as: UTF8.self).split(separator: "\n").count {
        $0.contains(#""event":"part""#) && $0.contains(#""key":"p/large""#)
      }
      return ranges == 2 && (try? files(box, in: "back").count { !$0.hasSuffix("s3up-part") }) == 5
    }
    process.signal(SIGKILL)
    _ = await process.wait(timeout: .seconds(100))
    box.fake.setFaults([])
    let before = box.fake.requests(.getObject).count
    let result = try await box.run(arguments)
    #expect(result.status == 0, "\(result.errors)")
    try expectSame(box, in: "back")
    #expect(result.lines.count { $0.contains(#""event":"unchanged""#) } == 5, "\(result.output)")
    // The last range has 3 MiB, and may be one of the two that arrived.
    let resumed = [10, 8].map { "\"bytes_resumed\":\($0 * mebi)," }
    #expect(resumed.contains { result.lines.last?.contains($0) == true }, "\(result.output)")
    #expect(box.fake.requests(.getObject).count - before == 4 + 1)
    // The run has succeeded, so its record is gone.
    #expect(try await box.run(arguments).status == 73)
  }

  @Test("a file that was changed since an interrupted run downloaded it is not taken for its object")
  func changedMeanwhile() async throws {
    let box = try await box()
    box.fake.setFaults([Fault(Fault.Match(.getObject, key: "p/b.txt"), .error(status: 403, code: "AccessDenied"))])
    let arguments = ["get", "-r", "s3://bucket/p/", "back"]
    #expect(try await box.run(arguments).status == 77)
    box.fake.setFaults([])
    try box.files.write([9], to: "back/a.txt")
    let bytes = try box.sample("dir/z", 4000, seed: 78)
    box.fake.putObject("p/z", bytes: bytes)
    let result = try await box.run(arguments)
    #expect(result.status == 73, "\(result.errors)")
    #expect(result.errors.contains("failed: back/a.txt") && result.errors.contains("failed: back/z"))
    #expect(result.lines.count { $0.hasPrefix("unchanged ") } == 4 && got(result) == ["back/b.txt"], "\(result.output)")
    #expect(try box.files.read("back/a.txt") == [9])
  }

  @Test("objects that are missing or archived say nothing about the next ones, however many they are")
  func manyMissing() async throws {
    let box = try await box()
    let missing = (1...20).map { "none\($0)" }
    box.fake.setFaults(
      [Fault(Fault.Match(.getObject, key: "p/z"), .error(status: 403, code: "InvalidObjectState"))])
    try box.files.write((missing + Self.names).joined(separator: "\n") + "\n", to: "list")
    let result = try await box.run("get", "--files-from", "list", "s3://bucket/p/", "back")
    #expect(result.status == 69, "\(result.errors)")
    try expectSame(box, Self.names.filter { $0 != "z" }, in: "back")
    #expect(result.lines.last?.hasPrefix("6 files downloaded, 21 failed (") == true, "\(result.output)")
  }

  @Test("if the bucket does not exist, a list of many objects, or of files to compare, is not tried to its end")
  func noBucket() async throws {
    let box = try BlackBox()
    for number in 0..<400 { try box.sample("t/\(number)", 10) }
    try box.files.write((0..<400).map { "\($0)\n" }.joined(), to: "list")
    for words in [
      ["get", "--files-from", "list", "s3://nobucket/p/", "back"], ["verify", "-r", "t", "s3://nobucket/p/"],
    ] {
      let before = box.fake.requests(.headObject).count
      let result = try await box.run(words)
      #expect(result.status == 69 && result.output.contains("the others were not completed"), "\(result.output)")
      #expect(result.errors.contains("bucket"), "\(result.errors)")
      #expect(box.fake.requests(.headObject).count - before < 400)
    }
  }

  @Test("a signal ends the run, and what has arrived is kept")
  func signal() async throws {
    let box = try await box()
    box.fake.setFaults([Fault(Fault.Match(.getObject, key: "p/z"), .stall(stage: .withinAnswer))])
    let process = try box.start(["get", "-r", "s3://bucket/p/", "back"])
    try await until("all others are there") {
      (try? files(box, in: "back").count { !$0.hasSuffix("s3up-part") }) == 6
    }
    process.signal(SIGINT)
    let result = await process.wait()
    #expect(result.status == 130 && result.errors.contains("un the same command again"), "\(result.errors)")
    try expectSame(box, Self.names.filter { $0 != "z" }, in: "back")
  }

  @Test("the time recorded with an object becomes the file's, and --if-newer compares it")
  func times() async throws {
    let box = try await box()
    box.fake.putObject("t/own", bytes: [1], headers: ["x-amz-meta-s3up-mtime": "1500000000.5"])
    box.fake.putObject("t/rclone", bytes: [2, 3], headers: ["x-amz-meta-mtime": "1400000000.123456789"])
    box.fake.putObject(
      "t/s3cmd", bytes: [4], headers: ["x-amz-meta-s3cmd-attrs": "atime:1/mtime:1300000000/uname:root"])
    try await box.run("get", "-r", "s3://bucket/t/", "back").expectSuccess()
    func time(_ name: String) -> [Int] {
      var status = stat()
      guard stat(box.files.path("back/" + name), &status) == 0 else { return [] }
      return [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }
    #expect(time("own") == [1_500_000_000, 500_000_000])
    #expect(time("rclone") == [1_400_000_000, 123_456_789])
    #expect(time("s3cmd") == [1_300_000_000, 0])
    let before = box.fake.requests(.getObject).count
    try await box.run("get", "-r", "s3://bucket/t/", "back", "--if-newer").expectSuccess()
    #expect(box.fake.requests(.getObject).count == before)
  }

  @Test(
    "what a manifest lists is downloaded and proven by it; a different object is 65",
    arguments: ["", ".jsonl"])
  func manifest(_ ending: String) async throws {
    let box = try await box()
    try await box.run("put", "-r", "-q", "dir", "s3://bucket/m/", "--manifest", "sums" + ending).expectSuccess()
    try await box.run("get", "--manifest", "sums" + ending, "s3://bucket/m/", "back").expectSuccess()
    try expectSame(box, in: "back")
    try await box.run("put", "-q", "sums" + ending, "s3://bucket/sums" + ending).expectSuccess()
    // Different bytes of the same length, which the store's own checksums prove.
    let bytes = try box.sample("other", 1000, seed: 79)
    box.fake.putObject("m/a.txt", bytes: bytes)
    let result = try await box.run("get", "--manifest", "s3://bucket/sums" + ending, "s3://bucket/m/", "again")
    #expect(result.status == 65 && result.errors.contains("not the one that the manifest lists"), "\(result.errors)")
    try expectSame(box, Self.names.filter { $0 != "a.txt" }, in: "again")
    // Another length is noticed before a byte is downloaded, if the manifest lists it.
    box.fake.putObject("m/a.txt", bytes: bytes + bytes)
    let loaded = { box.fake.requests(.getObject).filter { $0.key == "m/a.txt" && $0.status ?? 0 < 300 }.count }
    let before = loaded()
    let longer = try await box.run("get", "--manifest", "sums" + ending, "s3://bucket/m/", "longer")
    #expect(longer.status == 65 && longer.errors.contains("not the one that the manifest lists"), "\(longer.errors)")
    #expect(loaded() - before == (ending.isEmpty ? 1 : 0))
    try box.files.write("nonsense\n", to: "bad" + ending)
    try await box.run("get", "--manifest", "bad" + ending, "s3://bucket/m/", "bad-folder").expectFailure(64, "line 1")
  }

  @Test(
    "one object becomes the file that is named, whatever the options of a run of many",
    arguments: [["--fail-fast"], ["--failed-to", "list"], ["--include", "*"], ["--shard", "1/1"]])
  func oneFile(_ options: [String]) async throws {
    let box = try await box()
    try await box.run(["get", "s3://bucket/p/d/c.txt", "new"] + options).expectSuccess()
    #expect(try box.files.read("new") == box.files.read("dir/d/c.txt"))
    try await box.run(["get", "s3://bucket/p/d/c.txt", "folder/"] + options).expectSuccess()
    #expect(try box.files.read("folder/c.txt") == box.files.read("dir/d/c.txt"))
  }

  @Test("a dry run of one object names the file that would be written, and an object that is not there is 69")
  func dryRunOfOne() async throws {
    let box = try await box()
    let planned = try await box.run("get", "s3://bucket/p/d/c.txt", "new", "--dry-run")
    #expect(planned.status == 0 && planned.output.contains("/new (1002 B)"), "\(planned.output)")
    try box.files.write([1], to: "new")
    let exists = try await box.run("get", "s3://bucket/p/d/c.txt", "new", "--dry-run")
    #expect(exists.status == 73 && exists.errors.contains("already exists"), "\(exists.errors)")
    try await box.run("get", "s3://bucket/p/d/c.txt", "new", "--dry-run", "--overwrite").expectSuccess()
    let none = try await box.run("get", "s3://bucket/p/none", "other", "--dry-run")
    #expect(none.status == 69 && none.errors.contains("there is no object"), "\(none.errors)")
    try box.files.write("d/c.txt\n", to: "list")
    let listed = try await box.run("get", "--files-from", "list", "s3://bucket/p/", "other", "--dry-run")
    #expect(listed.status == 0 && listed.output.contains(" as other/d/c.txt "), "\(listed.output) \(listed.errors)")
    try box.files.write("d/none\n", to: "list")
    #expect(try await box.run("get", "--files-from", "list", "s3://bucket/p/", "other", "--dry-run").status == 69)
    #expect(try box.files.read("new") == [1] && box.fake.requests(.getObject).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: box.files.path("other")))
  }

  @Test("arguments that fit no run are refused before any request")
  func usage() async throws {
    let box = try await box()
    let before = box.fake.requests.count
    try await box.run("get", "-r", "s3://bucket/p/", "-").expectUsage("standard output")
    try await box.run("get", "s3://bucket/p/", "s3://bucket/q", "back").expectUsage("-r downloads everything below it")
    try await box.run("get", "s3://bucket/p", "s3://other/q", "back").expectUsage("two buckets")
    try await box.run("get", "-r", "back").expectUsage("the object is missing")
    try await box.run("get", "--files-from", "x", "s3://bucket/p", "s3://bucket/q", "back").expectUsage("one prefix")
    try await box.run("get", "--files-from", "x", "--manifest", "y", "s3://bucket/p", "back").expectUsage("both name")
    try await box.run("get", "-r", "s3://bucket/p/", "back", "--range", "0-1").expectUsage("--range is not for")
    #expect(box.fake.requests.count == before)
  }
}
