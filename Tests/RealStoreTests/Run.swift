import Foundation
import MultipartBasics
import Support
import Testing

/// s3up against one store: with its own home and state folder, a unique key prefix, and a folder for sources.
struct Run: Sendable {
  let store: Store
  let s3up: S3upBinary
  let files: TemporaryDirectory
  /// A prefix that no other test has, without a slash at either end.
  let prefix: String

  init(_ store: Store, _ name: String) throws {
    self.store = store
    s3up = try S3upBinary()
    files = try TemporaryDirectory("s3up-real")
    prefix = "real/\(name)-\(UUID().uuidString.lowercased().prefix(8))"
  }

  func key(_ name: String = "object") -> String { "\(prefix)/\(name)" }
  func url(_ key: String) -> String { "s3://\(store.bucket)/\(key)" }

  var environment: [String: String] {
    [
      "AWS_ACCESS_KEY_ID": store.accessKey, "AWS_SECRET_ACCESS_KEY": store.secretKey, "AWS_REGION": store.region,
      "AWS_ENDPOINT_URL_S3": store.endpoint, "AWS_CA_BUNDLE": store.certificates,
    ]
  }

  func start(
    _ words: [String], _ changes: [String: String] = [:], input: ChildProcess.Input = .none
  ) throws -> ChildProcess {
    try s3up.start(words, environment: environment.merging(changes) { $1 }, input: input)
  }

  func callAsFunction(_ words: String..., with changes: [String: String] = [:]) async throws -> ChildProcess.Result {
    try await start(words, changes).wait(timeout: .seconds(240))
  }

  func callAsFunction(_ words: [String]) async throws -> ChildProcess.Result {
    try await start(words).wait(timeout: .seconds(240))
  }

  /// Begins an upload of 40 MiB that takes 20 s, and returns when its first part, or so many, are at the store.
  func beginSlowly(
    _ options: [String] = [], parts: Int = 1, fromInput: Bool = false
  ) async throws -> (process: ChildProcess, source: Source) {
    let source = try await file("source", 40 << 20)
    let process = try start(
      [
        "put", fromInput ? "-" : source.path, url(key()), "--json", "--part-size", "5M", "--concurrency", "1",
        // A part takes 2.5 s: unless the machine is very busy, the one before is seen in less, so that no part is just
        // arriving when the run is stopped.
        "--limit-rate", "2M",
      ] + options, input: fromInput ? .file(source.path) : .none)
    while !process.ended {
      if let id = try await store.unfinished(key()).first, try await store.parts(key(), id).count >= parts {
        return (process, source)
      }
      // Each check starts a process, and a busy machine has enough of them.
      try await Task.sleep(for: .milliseconds(200))
    }
    let result = await process.wait()
    throw Missing(description: "the upload was over before a part was seen: \(result.output) \(result.errors)")
  }

  /// The parts of the run's object that the store has once its list no longer grows: it stores a part that has arrived
  /// to its end although the sender was stopped, and a busy store lists it seconds later.
  func settledParts(_ uploadID: String) async throws -> [Int] {
    var parts = try await store.parts(key(), uploadID)
    while true {
      try await Task.sleep(for: .seconds(3))
      let now = try await store.parts(key(), uploadID)
      if now == parts { return now }
      parts = now
    }
  }

  /// Runs `put --json`; returns the result and the line that it printed.
  func put(
    _ file: String, _ key: String, _ options: [String] = [], with changes: [String: String] = [:]
  ) async throws -> (result: ChildProcess.Result, event: Event) {
    let result = try await start(["put", file, url(key), "--json"] + options, changes).wait(timeout: .seconds(240))
    return (result, try Event(result))
  }

  /// A file of seeded bytes and its SHA-256.
  func file(_ name: String, _ size: Int, seed: UInt64 = 1) async throws -> Source {
    try await Source(files, name, size: size, seed: seed)
  }

  /// Expects that nothing of the key is at the store, neither an object nor an upload.
  func expectNothing(_ key: String, _ at: SourceLocation = #_sourceLocation) async throws {
    let found = try await store.ask(.head(key), .uploads(key))
    #expect(found[0].status == 404, sourceLocation: at)
    #expect(try found[1].uploads(of: key) == [], sourceLocation: at)
  }

  /// Expects that the object is these bytes, and that no upload of its key is left.
  func expect(_ key: String, is source: Source, _ at: SourceLocation = #_sourceLocation) async throws {
    let found = try await store.ask(.get(key), .uploads(key))
    expect(found[0], is: source, at)
    #expect(try found[1].uploads(of: key) == [], sourceLocation: at)
  }

  /// Expects the same of many objects, with requests from one process.
  func expect(_ sources: [String: Source], _ at: SourceLocation = #_sourceLocation) async throws {
    let all = Array(sources)
    let found = try await store.ask(all: all.map { .get(key($0.key)) })
    for (source, answer) in zip(all, found) { expect(answer, is: source.value, at) }
  }

  func expect(_ found: Answer, is source: Source, _ at: SourceLocation = #_sourceLocation) {
    #expect(found.status == 200, sourceLocation: at)
    #expect(found.size == source.size, sourceLocation: at)
    #expect(found.sha256 == source.sha256, sourceLocation: at)
  }
}

/// The last line of `--json`.
struct Event: Decodable, Sendable {
  struct Checksum: Decodable, Sendable, Equatable {
    var algorithm: String
    var type: String
    var value: String
  }

  var event: String
  var size: Int?
  var etag: String?
  var checksum: Checksum?
  var parts: Int?
  var bytes_sent: Int?
  var bytes_resumed: Int?
  var resumable: Bool?
  var retries: Int?
  var evidence: String?
  var code: String?
  var message: String?
  var s3_code: String?
  var exit: Int?
  var status: Int?

  init(_ result: ChildProcess.Result) throws {
    guard let line = result.lines.last else {
      throw Missing(description: "s3up printed no JSON: status \(result.status ?? -1), \(result.errors)")
    }
    self = try JSONDecoder().decode(Event.self, from: Data(line.utf8))
  }

  /// Expects that all bytes were sent, and at most `again` of them twice: if a busy store (OpenStack Swift) has closed
  /// the idle connection on which a part is sent, libcurl starts that part again on another one, and counts the bytes
  /// that it had sent.
  func expectSent(_ bytes: Int, again: Int, _ output: String = "", _ at: SourceLocation = #_sourceLocation) {
    let sent = bytes_sent ?? -1
    #expect(
      (bytes...bytes + again).contains(sent), "\(sent) bytes for \(bytes): \(self)\n\(output)", sourceLocation: at)
  }
}
