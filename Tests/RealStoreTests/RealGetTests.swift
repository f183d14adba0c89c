import Foundation
import Support
import Testing

extension RealStores {
  /// Uploaded objects are downloaded again.
  @Suite struct Downloads {
    @Test(
      "An object is downloaded byte for byte, to a file and to a pipe, and its bytes are proven", arguments: Store.all,
      [0, 1, 9 << 20, (20 << 20) + 3])
    func comesBack(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "get")
      let source = try await run.file("source", size, seed: 77)
      let key = run.key()
      let (put, _) = try await run.put(source.path, key)
      #expect(put.status == 0, "\(put.errors)")
      let target = run.files.path("target")
      let got = try await run("get", run.url(key), target)
      #expect(got.status == 0, "\(got.errors)")
      #expect(try await Source.sum(of: target, home: run.files.path) == source.sha256)
      #expect(!got.output.contains("size only"), "\(got.output)")
      let again = try await run("get", run.url(key), target, "--skip-same")
      #expect(again.status == 0 && again.output.hasPrefix("unchanged"), "\(again.output) \(again.errors)")
      let stream = run.files.path("stream")
      #expect(mkfifo(stream, 0o600) == 0)
      let reader = try ChildProcess(
        Programs.find("sha256sum"), [stream], environment: Programs.environment(home: run.files.path))
      #expect(try await run("get", run.url(key), stream).status == 0)
      #expect(await reader.wait().output.hasPrefix(source.sha256))
      try await store.delete(key)
    }

    @Test(
      "A killed download resumes with its proven bytes, and an object that was replaced since is downloaded whole",
      arguments: Store.all.filter { $0.scheme == .http })
    func resumes(_ store: Store) async throws {
      let run = try Run(store, "get-killed")
      let source = try await run.file("source", 24 << 20, seed: 78)
      let other = try await run.file("other", 24 << 20, seed: 79)
      let key = run.key()
      _ = try await run.put(source.path, key)
      let target = run.files.path("target")
      let get = ["get", run.url(key), target, "--part-size", "2M", "--concurrency", "1"]
      for replaces in [false, true] {
        let process = try run.start(get + ["--limit-rate", "2M", "--json=all"])
        try await until("three ranges are there") {
          let output = String(decoding: process.stdout, as: UTF8.self)
          return process.ended || output.split(separator: "\n").count { $0.contains(#""event":"part""#) } >= 3
        }
        process.signal(SIGKILL)
        _ = await process.wait()
        #expect(access(target, F_OK) != 0)
        if replaces { _ = try await run.put(other.path, key) }
        let result = try await run(get + ["--json"])
        let resumed = try Event(result).bytes_resumed ?? -1
        #expect(
          result.status == 0 && (replaces ? resumed == 0 : resumed >= 6 << 20), "\(result.output) \(result.errors)")
        #expect(try await Source.sum(of: target, home: run.files.path) == (replaces ? other : source).sha256)
        #expect(unlink(target) == 0)
      }
      try await store.delete(key)
    }
  }
}
