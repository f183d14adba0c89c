import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// The mistakes of newcomers, from `Mistakes.txt`: each is answered with what is wrong, where, and what to do. The head
/// of that file explains its lines.
@Suite(.crowd) struct MistakeTests {
  @Test("A newcomer's mistake is answered with what is wrong and what to do", arguments: Mistake.all)
  func answer(_ mistake: Mistake) async throws {
    let box = try Self.box()
    // Takes away what root may do; some containers do not allow it.
    if mistake.line.contains("unshare"), try await box.shell("unshare -U true").status != 0 { return }
    let result = try await box.shell(mistake.line)
    let lines = result.errors.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let shown = "\(mistake.line)\n\(result.status.map(String.init) ?? "ended by a signal")\n\(result.errors)"
    #expect(result.status == mistake.exit, "\(shown)")
    #expect(result.output == "", "\(shown)")
    try #require(lines.count == 3 && lines[2] == "", "\(shown)")
    #expect(lines[0].hasPrefix("s3up: ") && Self.holds(lines[0], mistake.what, box), "\(shown)")
    #expect(!lines[1].hasPrefix("s3up: ") && Self.holds(lines[1], mistake.way, box), "\(shown)")
    for secret in ["topsecretword", FakeCredential.standard.secret] {
      #expect(!shown.dropFirst(mistake.line.count).contains(secret))
    }
  }

  /// Whether the line contains all pieces, one after the other.
  private static func holds(_ line: String, _ pieces: [String], _ box: BlackBox) -> Bool {
    var rest = Substring(line)
    for piece in pieces {
      let wanted = piece.replacing("$ENDPOINT", with: box.fake.endpoint).replacing("$PORT", with: "\(box.fake.port)")
        .replacing("$TLS_PORT", with: "\(box.fake.tlsPort)")
      guard let found = rest.range(of: wanted) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }

  @Test("The table has 120 mistakes at least, none of them twice")
  func table() {
    #expect(Mistake.all.count >= 120)
    #expect(Set(Mistake.all.map(\.line)).count == Mistake.all.count)
  }

  @Test("A variable that looks like one of s3up's but is none is named, with the one that is probably meant")
  func variable() async throws {
    let box = try Self.box()
    let result = try await box.shell("S3UP_PARTSIZE=8M S3UP_OTHER_THING=1 s3up put big.iso s3://bucket/key")
    #expect(result.status == 0)
    #expect(result.errors == "s3up: S3UP_PARTSIZE sets nothing; did you mean S3UP_PART_SIZE?\n")
    for (name, meant) in [
      ("S3UP_ENDPOINT", "S3UP_ENDPOINT_URL"), ("S3UP_STATE", "S3UP_STATE_DIR"), ("S3UP_BWLIMIT", "S3UP_LIMIT_RATE"),
    ] {
      let result = try await box.shell("\(name)=x s3up put big.iso s3://bucket/key")
      #expect(result.status == 0)
      #expect(result.errors == "s3up: \(name) sets nothing; did you mean \(meant)?\n")
    }
    try await box.shell("S3UP_PARTSIZE=8M S3UP_NOTIFY_SECRET=x s3up put -q big.iso s3://bucket/key").expectSuccess()
  }

  /// The newcomer's folder and store.
  private static func box() throws -> BlackBox {
    var box = try BlackBox(
      faults: [
        Fault(.init(key: "denied"), .error(status: 403, code: "AccessDenied", message: "Access Denied")),
        Fault(.init(key: "busy"), .error(status: 503, code: "SlowDown", message: "Please reduce your request rate.")),
      ])
    let ended = FakeCredential(
      keyID: "AKIDENDED", secret: "short", sessionToken: "old", ends: box.fake.now.seconds - 60)
    box.fake.setCredentials([.standard, ended])
    box.fake.putObject("here", bytes: Array("what is here".utf8))
    for key in ["photos/1.jpg", "photos/2.jpg"] { box.fake.putObject(key, bytes: Array(key.utf8)) }
    for (name, size) in [("big.iso", 100_000), ("other.iso", 100_001), ("-big.iso", 10), ("empty.bin", 0)] {
      try box.files.write(randomBytes(size, seed: UInt64(size)), to: name)
    }
    for name in ["a.jpg", "b.jpg", "a.tmp", "b.tmp", "photos/1.jpg", "photos/2.jpg"] {
      try box.files.write(name, to: name)
    }
    try FileManager.default.createDirectory(
      atPath: box.files.path("empty-folder"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: box.files.path("broken-link"), withDestinationPath: "nowhere")
    let program = box.files.path("bin/s3up")
    try FileManager.default.createDirectory(atPath: box.files.path("bin"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: program, withDestinationPath: box.binary.path)
    box.environment["PATH"] =
      box.files.path("bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
    box.environment["ENDPOINT"] = box.fake.endpoint
    box.environment["PORT"] = "\(box.fake.port)"
    box.environment["TLS_PORT"] = "\(box.fake.tlsPort)"
    return box
  }
}

/// One line of the table.
struct Mistake: Sendable, CustomTestStringConvertible {
  let line: String
  let exit: Int32
  /// Pieces of the first line of the answer, in their order.
  let what: [String]
  /// Pieces of the second.
  let way: [String]

  var testDescription: String { line }

  static let all: [Mistake] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Mistakes.txt")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { Mistake($0) }
  }()

  /// Parses a line; one that is not of the form becomes a mistake that no run answers, and so fails.
  private init(_ text: Substring) {
    let sides = text.components(separatedBy: " => ")
    let answer = sides.count == 2 ? sides[1].components(separatedBy: " | ") : []
    line = sides[0].trimmingCharacters(in: .whitespaces)
    exit = answer.first.flatMap { Int32($0) } ?? -1
    let pieces = answer.dropFirst().map {
      $0.components(separatedBy: "…").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    what = pieces.first ?? ["its line in the table lacks a field"]
    way = pieces.count == 2 ? pieces[1] : ["its line in the table lacks a field"]
  }
}
