import Foundation
import Support
import Testing

@testable import s3up

/// Runs the examples of the help, the manual page, the README and the articles in Debian's sh, with stand-ins for
/// everything that is not s3up: the store, a database, a pager.
@Suite(.crowd) struct ExampleTests {
  static let help = CommandName.allCases.flatMap { CommandPage.of($0).examples.map(\.line) }
  static let written = Article.all.flatMap(\.examples)
  static let all = help + written

  /// The words in an example that stand for something of the reader's.
  static let standIns = [
    ("https://s3.example.com", "$AWS_ENDPOINT_URL_S3"), ("/srv/data", "srv/data"),
    ("\"$SOURCE\" \"$TARGET\"", "backup.tar s3://my-bucket/backups/"),
    ("export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_REGION=eu-west-1", ""),
  ]

  static let cannotRun = [
    ("make ", "it builds, measures or tests this repository"),
    ("apt-get", "it installs"),
    ("apt install", "it installs"),
    ("systemctl", "it enables a timer of the system"),
    ("#!/bin/sh", "a job for a scheduler, which the soak runs"),
    ("--set-cors", "the fake store has no rules of CORS; the tests in a browser set them at a real one"),
  ]

  @Test("The lists of omitted and replaced examples have no stale entries")
  func lists() {
    for name in Self.standIns.map(\.0) + Self.cannotRun.map(\.0) {
      #expect(Self.all.contains { $0.contains(name) }, "\(name)")
    }
    #expect(Self.help.count > 35 && Self.written.count > 30)
    for kind in ["sh", "crontab", "yaml"] { #expect(Article.all.contains { !$0.blocks(kind).isEmpty }, "\(kind)") }
  }

  @Test(
    "Each example ends with 0",
    arguments: all.filter { line in !cannotRun.contains { line.contains($0.0) } })
  func runs(_ example: String) async throws {
    let result = try await Self.run(example, in: try Self.box(example))
    #expect(result.status == 0, "\(example)\n\(result.output)\(result.errors)")
  }

  @Test(
    "The lines that the guide puts into a crontab print nothing on success", arguments: Article.all.flatMap(\.crontab))
  func cron(_ line: String) async throws {
    let result = try await Self.run(line, in: try Self.box(line))
    #expect(result.status == 0 && result.output == "" && result.errors == "", "\(result.output)\(result.errors)")
  }

  @Test("The example of a database publishes the dump, and nothing if the dump fails")
  func database() async throws {
    let example = try #require(Self.help.first { $0.contains("--from-command") })
    let box = try Self.box(example)
    let whole = try await Self.run(example, in: box)
    #expect(whole.status == 0 && box.fake.objectCount == 1, "\(whole.errors)")
    let other = try Self.box(example)
    try Self.program("pg_dump", "echo half a dump; exit 1", in: other)
    let half = try await Self.run(example, in: other)
    #expect(half.status == 65, "\(half.errors)")
    other.expectNothingLeft()
  }

  private static func box(_ example: String) throws -> BlackBox {
    var box = try BlackBox {
      $0.buckets = ["my-bucket", "images", "artifacts", "backup", "s3up-test"]
      $0.storage = example.contains("s3up get") ? .memory : .discard
    }
    box.environment["AWS_REGION"] = "us-east-1"
    for name in ["backup.tar", "video.mkv", "film.mov", "build/lib/x.so", "build/x.o", "srv/data/f", "dist/a", "stamp"]
    {
      try box.sample(name, 1000)
    }
    // Sparse, and long enough for the slices that are cut out of it.
    try box.files.write([UInt8](), to: "disk.img")
    #expect(truncate(box.files.path("disk.img"), 128 << 20) == 0)
    for folder in [".config/fish/completions", "written"] {
      try FileManager.default.createDirectory(atPath: box.files.path(folder), withIntermediateDirectories: true)
    }
    try program("s3up", "exec \"$S3UP\" \"$@\"", in: box)
    try program("pg_dump", "echo a whole dump", in: box)
    for name in ["zstd", "man"] { try program(name, "exec cat", in: box) }
    return box
  }

  /// The shell copies it to its place: a program that this process has written cannot be started ("Text file busy")
  /// while a child of another test, just forked, still holds the descriptor.
  private static func program(_ name: String, _ line: String, in box: BlackBox) throws {
    try box.files.write("#!/bin/sh\n\(line)\n", to: "written/\(name)")
  }

  /// Runs an example, after creating the files and objects that it expects.
  private static func run(_ example: String, in box: BlackBox) async throws -> ChildProcess.Result {
    // Not below the working directory: an example that sends all of that would find records which are about to go.
    let state = try TemporaryDirectory()
    defer { withExtendedLifetime(state) {} }
    var lines = [
      "set -e", "HOME=$PWD", "export XDG_STATE_HOME='\(state.path)'", "PATH=$PWD/bin:$PATH",
      "mkdir -p bin", "install -m 755 written/* bin",
    ]
    if example.contains("\"$id\"") || example.contains("part disk.img --url"), !example.contains("id=$(") {
      lines += [
        "id=$(s3up create s3://my-bucket/disk.img)",
        "s3up part disk.img s3://my-bucket/disk.img --upload-id \"$id\" --part 1 --length 64M >etag",
        "s3up parts s3://my-bucket/disk.img --upload-id \"$id\" >parts.txt",
        "url=$(s3up presign s3://my-bucket/disk.img --upload-id \"$id\" --part 1)",
      ]
    }
    if ["s3up ls", "s3up head", "s3up verify"].contains(where: example.contains) {
      lines += [
        "s3up put backup.tar s3://my-bucket/backups/backup.tar", "s3up put disk.img s3://my-bucket/disk.img",
        "s3up put -r srv/data s3://backup/data --manifest data.jsonl",
      ]
    }
    if example.contains("s3up get") {
      lines += [
        "s3up put -r srv/data s3://backup/data --manifest s3://backup/data.jsonl",
        "s3up put backup.tar s3://my-bucket/backups/backup.tar", "s3up put backup.tar s3://my-bucket/disk.img",
        "tar czf src.tar.gz srv", "s3up put src.tar.gz s3://my-bucket/src.tar.gz",
        "url=$(s3up presign s3://my-bucket/disk.img --checksum-mode)",
      ]
      // Without a target the object gets its own name, which must be free.
      if !example.contains("restored.tar") { lines.append("rm backup.tar") }
    }
    if example.contains("ticket.json"), !example.contains("-o ticket.json") {
      lines.append("s3up ticket issue disk.img s3://my-bucket/disk.img -o ticket.json")
    }
    let script = standIns.reduce(example) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    // The completions of a shell are for that shell; bash treats zsh's list of folders as an ordinary array.
    guard example.contains("completions bash") || example.contains("fpath") else {
      return try await box.shell((lines + [script]).joined(separator: "\n"))
    }
    return try await box.shell("exec bash -c \"$1\"", (lines + ["fpath=(x \"$PWD\")", script]).joined(separator: "\n"))
  }
}
