import Foundation
import Glibc
import Support
import Testing

extension RealStores {
  /// Many files in one run.
  @Suite(.serialized) struct Many {
    @Test("A tree arrives byte for byte and is not sent again", arguments: Store.once)
    func aTreeArrivesByteIdenticalAndIsNotSentAgain(_ store: Store) async throws {
      let run = try Run(store, "many")
      let folder = run.files.path("tree")
      var keys: [String: Source] = [:]
      let sizes = [0, 1, 4096, 70_000, 300_000, 9 << 20] + (0..<30).map { $0 * 101 }
      for (number, size) in sizes.enumerated() {
        let name = "d\(number % 7)/f \(number)"
        try FileManager.default.createDirectory(
          atPath: folder + "/d\(number % 7)", withIntermediateDirectories: true)
        keys[name] = try await run.file("tree/" + name, size, seed: UInt64(number + 1))
      }
      let put = ["put", "-r", folder, run.url(run.prefix), "--skip-same", "--json"]
      let first = try await run(put)
      #expect(first.status == 0, "\(first.errors)")
      #expect(first.lines.count { $0.contains(#""event":"completed""#) } == sizes.count)
      try await run.expect(keys)
      let second = try await run(put)
      #expect(second.status == 0, "\(second.errors)")
      let unchanged = second.lines.count { $0.contains(#""event":"unchanged""#) }
      #expect(unchanged == sizes.count, "\(second.output.suffix(600))")
      // One file has changed, and only that one is sent.
      let changed = try await run.file("tree/d0/f 0", 5000, seed: 99)
      let third = try await run(put)
      #expect(third.lines.count { $0.contains(#""event":"completed""#) } == 1, "\(third.output.suffix(600))")
      try await run.expect(run.key("d0/f 0"), is: changed)
    }

    @Test("After --mtime rclone finds the same bytes and times, and nothing to do", arguments: Store.seaweed)
    func rclone(_ store: Store) async throws {
      let run = try Run(store, "rclone")
      for (number, size) in [0, 5000, 11 << 20].enumerated() {
        try FileManager.default.createDirectory(atPath: run.files.path("tree/d"), withIntermediateDirectories: true)
        _ = try await run.file("tree/d/f\(number)", size, seed: UInt64(number + 1))
        try setModified(
          run.files.path("tree/d/f\(number)"), seconds: 1_700_000_000 + number, nanoseconds: 123_456_789 * number)
      }
      let (tree, rclone) = (run.files.path("tree"), try Programs.find("rclone"))
      let environment = [
        "RCLONE_CONFIG": "/dev/null", "RCLONE_CONFIG_S_TYPE": "s3", "RCLONE_CONFIG_S_PROVIDER": "Other",
        "RCLONE_CONFIG_S_ACCESS_KEY_ID": store.accessKey, "RCLONE_CONFIG_S_SECRET_ACCESS_KEY": store.secretKey,
        "RCLONE_CONFIG_S_ENDPOINT": store.endpoint, "RCLONE_CONFIG_S_REGION": store.region,
        "RCLONE_CA_CERT": store.certificates,
      ]
      func ask(_ words: String...) async throws -> ChildProcess.Result {
        let all = Programs.environment(home: run.files.path).merging(environment) { $1 }
        return try await ChildProcess(rclone, words, environment: all).wait(timeout: .seconds(240))
      }
      let put = ["put", "-r", tree, run.url(run.prefix), "--part-size", "5M"]
      for (options, finds) in [([], true), (["--mtime"], false)] {
        #expect(try await run(put + options).status == 0)
        let target = "s:\(store.bucket)/\(run.prefix)"
        let sync = try await ask("sync", "--dry-run", "-v", tree, target)
        #expect(sync.status == 0 && sync.errors.contains("nothing to transfer") == !finds, "\(sync.errors)")
        #expect(sync.errors.contains("as --dry-run is set") == finds, "\(sync.errors)")
        let check = try await ask("check", tree, target)
        #expect(check.status == 0 && check.errors.contains("0 differences found"), "\(check.errors)")
      }
    }

    @Test(
      "An existing object is skipped, whatever it contains, and one that appears during the run is not replaced",
      arguments: Store.once)
    func whatIsThereIsSkipped(_ store: Store) async throws {
      let run = try Run(store, "existing")
      try FileManager.default.createDirectory(
        atPath: run.files.path("tree"), withIntermediateDirectories: true)
      let old = try await run.file("old", 3000, seed: 9)
      for name in ["a", "b", "large"] {
        _ = try await run.file("tree/" + name, name == "large" ? 9 << 20 : 4000, seed: 1)
      }
      #expect(try await run(["put", run.files.path("old"), run.url(run.key("a"))]).status == 0)
      let put = ["put", "-r", run.files.path("tree"), run.url(run.prefix), "--skip-existing", "--json"]
      let first = try await run(put)
      #expect(first.status == 0, "\(first.errors)")
      #expect(first.lines.count { $0.contains(#""event":"skipped""#) } == 1, "\(first.output)")
      #expect(first.lines.count { $0.contains(#""event":"completed""#) } == 2, "\(first.output)")
      try await run.expect(run.key("a"), is: old)
      let second = try await run(put)
      #expect(second.lines.count { $0.contains(#""event":"skipped""#) } == 3, "\(second.output)")
    }

    @Test("A report never replaces a source, and a manifest never replaces an object of its run", arguments: Store.once)
    func aReportNeverCostsASourceAndAManifestNeverAnObjectOfItsRun(_ store: Store) async throws {
      let run = try Run(store, "reports")
      var keys: [String: Source] = [:]
      try FileManager.default.createDirectory(
        atPath: run.files.path("tree"), withIntermediateDirectories: true)
      for (number, name) in ["a", "data"].enumerated() {
        keys[name] = try await run.file("tree/" + name, 5000 + number, seed: UInt64(number + 1))
      }
      let (folder, list) = (run.files.path("tree"), run.files.path("list"))
      let data = folder + "/data"
      try Data("\(folder)/./a\n\(data)\n".utf8).write(to: URL(fileURLWithPath: list))
      let target = run.url(run.prefix + "/")
      let before = try [data, list].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
      for words in [
        ["--files-from", list, target, "--failed-to", list], [folder + "/a", data, target, "--failed-to", data],
        ["-r", folder, target, "--failed-to", data], ["-r", folder, target, "--manifest", data],
        ["-r", folder, target, "--failed-to", data, "--dry-run"],
        ["-r", folder, target, "--manifest", run.url(run.key("a"))],
        [folder + "/a", data, target, "--manifest", run.url(run.key("a"))],
      ] {
        let result = try await run(["put"] + words)
        #expect(result.status == 64, "\(words): \(result.output) \(result.errors)")
        #expect(try [data, list].map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before, "\(words)")
      }
      #expect(try await store.ask(.head(run.key("a")), .head(run.key("data"))).map(\.status) == [404, 404])
      let manifest = run.url(run.key("manifest"))
      let well = try await run(["put", "-r", folder, target, "--manifest", manifest, "--failed-to", folder + "/failed"])
      #expect(well.status == 0, "\(well.errors)")
      try await run.expect(keys)
      #expect(try await store.ask(.head(run.key("failed")), .head(run.key("manifest"))).map(\.status) == [404, 200])
      let nowhere = try await run(["put", "-r", folder, target, "--manifest", "s3://no-such-bucket-of-s3up/m"])
      #expect(nowhere.status == 69 && !nowhere.output.contains("uploaded"), "\(nowhere.output) \(nowhere.errors)")
    }

    @Test(
      "A file that was rewritten between two runs is sent, and the manifest says what the store holds",
      arguments: Store.once)
    func whatWasRewrittenBetweenTwoRunsIsSentAndTheManifestSaysWhatIsThere(_ store: Store) async throws {
      let run = try Run(store, "rewritten")
      _ = try await run.file("good", 5000)
      let (good, missing, manifest) = (run.files.path("good"), run.files.path("missing"), run.files.path("m"))
      try run.files.write("\(good)\n\(missing)\n", to: "list")
      let put = ["put", "--files-from", run.files.path("list"), run.url(run.prefix + "/")]
      let first = try await run(put)
      #expect(first.status == 66, "\(first.errors)")
      try Touch.rewritten.happen(to: good)
      let source = try await Source(run.files, "missing", size: 10, seed: 2)
      let second = try await run(put + ["--manifest", manifest, "--verify"])
      #expect(second.status == 0, "\(second.errors)")
      let sum = try await Source.sum(of: good, home: run.files.path)
      let name = { (path: String) in String(path.dropFirst()) }
      let found = try await store.ask(.get(run.key(name(good))), .get(run.key(name(missing))))
      #expect(found.map(\.sha256) == [sum, source.sha256])
      let lines = try String(contentsOfFile: manifest, encoding: .utf8)
      #expect(lines == "\(sum)  \(name(good))\n\(source.sha256)  \(name(missing))\n")
      let proven = try await run("verify", "--manifest", manifest, "--deep", run.url(run.prefix + "/"))
      #expect(proven.status == 0, "\(proven.errors)")
    }

    @Test("A batch line that requests other settings than in the run before is sent again", arguments: Store.once)
    func whatALineOfABatchAsksForIsPartOfWhatAnEarlierRunHasDone(_ store: Store) async throws {
      let run = try Run(store, "lines")
      let source = try await run.file("good", 5000)
      for asked in ["text/x-one", "text/x-two", "text/x-one"] {
        let batch = #"""
          {"localUri":"\#(source.path)","bucket":"\#(store.bucket)","key":"\#(run.key())","mimeType":"\#(asked)",\#
          "metadata":{"color":"\#(asked.suffix(3))"}}
          {"localUri":"\#(run.files.path("missing"))","bucket":"\#(store.bucket)","key":"\#(run.key("x"))"}
          """#
        try run.files.write(batch, to: "batch")
        for _ in 1...2 {
          let result = try await run("put", "--batch", run.files.path("batch"))
          #expect(result.status == 66, "\(result.errors)")
          let headers = try await store.head(run.key()).headers
          #expect(headers["content-type"] == asked)
          #expect(headers["x-amz-meta-color"] == String(asked.suffix(3)))
        }
      }
      try await run.expect(run.key(), is: source)
    }
  }
}
