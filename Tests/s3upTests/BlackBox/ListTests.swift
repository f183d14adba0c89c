import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite("What is in a bucket is listed", .crowd) struct ListTests {
  static let hostile = "p/a\nb\u{1b}[31m\u{202e}"

  private func box(_ change: (inout FakeOptions) -> Void = { _ in }) throws -> BlackBox {
    let box = try BlackBox(faults: [], change)
    for key in ["p/1", "p/d/x", "p/d/y", "p/é", "q"] { box.fake.putObject(key, bytes: [1, 2, 3]) }
    return box
  }

  private func json(_ line: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test("whole keys, one a line, folders by the delimiter, and with -r all of them")
  func keys() async throws {
    let box = try box()
    let all = try await box.run("ls", "s3://bucket")
    all.expectSuccess()
    #expect(all.lines == ["p/", "q"])
    #expect(try await box.run("ls", "s3://bucket/p/").lines == ["p/1", "p/d/", "p/é"])
    #expect(try await box.run("ls", "s3://bucket/p/d").lines == ["p/d/"])
    #expect(try await box.run("ls", "-r", "s3://bucket/p/").lines == ["p/1", "p/d/x", "p/d/y", "p/é"])
    #expect(try await box.run("ls", "-q", "s3://bucket/q").lines == ["q"])
  }

  @Test("a store that knows no delimiters is shown with folders too")
  func flat() async throws {
    #expect(try await box { $0.lists = .flat }.run("ls", "s3://bucket/p/").lines == ["p/1", "p/d/", "p/é"])
  }

  @Test("-l shows exact sizes, or with --human-readable those for people, in as many columns on each line")
  func long() async throws {
    let box = try box()
    box.fake.putObject(
      "big", bytes: [UInt8](repeating: 0, count: 1536), headers: ["x-amz-storage-class": "GLACIER IR\t"])
    let lines = try await box.run("ls", "-l", "s3://bucket").lines
    try #require(lines.count == 3 && lines.allSatisfy { $0.split(separator: " ").count == 5 }, "\(lines)")
    let big = lines[0].split(separator: " ").map(String.init)
    #expect(big[0] == "1536" && big[1].hasSuffix("Z") && big[2] == "GLACIER_IR" && big[4] == "big", "\(big)")
    #expect(big[3] == "\"\(box.fake.object("big")?.etag ?? "")\"")
    #expect(lines[1].split(separator: " ") == ["-", "-", "-", "-", "p/"])
    let human = try await box.run("ls", "-l", "--human-readable", "s3://bucket/big").lines
    #expect(human.first?.split(separator: " ").first == "1.5KiB", "\(human)")
    #expect(try await box.run("ls", "-lh", "s3://bucket/big").lines == human)
  }

  @Test("a hostile key is one harmless line; with -0 it is printed as it is, and JSON escapes it")
  func hostile() async throws {
    let box = try box()
    box.fake.putObject(Self.hostile, bytes: [])
    let lines = try await box.run("ls", "s3://bucket/p/a").lines
    #expect(lines == ["p/a b\u{fffd}[31m\u{fffd}"])
    let raw = try await box.run("ls", "-0", "s3://bucket/p/")
    #expect(
      Array(raw.output.utf8).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.contains(Self.hostile))
    let escaped = try await box.run("ls", "s3://bucket/p/a", "--json")
    #expect(escaped.lines.count == 1 && escaped.json["key"] as? String == Self.hostile)
    try await box.run("ls", "-0", "--json", "s3://bucket").expectUsage("exclude each other")
  }

  @Test("JSON has what the store reports, and begins with the event")
  func json() async throws {
    let box = try box()
    let result = try await box.run("ls", "s3://bucket/p/", "--json")
    try #require(result.lines.count == 3 && result.lines.allSatisfy { $0.hasPrefix("{\"event\":\"") })
    let object = try json(result.lines[0])
    #expect(object["event"] as? String == "object" && object["key"] as? String == "p/1")
    #expect(object["size"] as? Int == 3 && object["bucket"] as? String == "bucket")
    #expect(object["etag"] as? String == "\"\(box.fake.object("p/1")?.etag ?? "")\"")
    #expect(object["storage_class"] as? String == "STANDARD" && object["last_modified"] is String)
    let folder = try json(result.lines[1])
    #expect(folder["event"] as? String == "folder" && folder["key"] as? String == "p/d/")
  }

  @Test("pages are requested one after another, each once, and every key is listed once", arguments: [false, true])
  func pages(_ versions: Bool) async throws {
    let box = try box { ($0.pageLimit, $0.versioning) = (7, true) }
    for round in 0..<(versions ? 2 : 1) {
      for number in 0..<40 { box.fake.putObject("many/\(100 + number)", bytes: [UInt8(round)]) }
    }
    let result = try await box.run(["ls", "-r", "s3://bucket/many/"] + (versions ? ["--versions"] : []))
    result.expectSuccess()
    let keys = result.lines.map { String($0.split(separator: " ").last ?? "") }
    #expect(keys == (0..<40).flatMap { [String](repeating: "many/\(100 + $0)", count: versions ? 2 : 1) })
    #expect(box.fake.requests(versions ? .listObjectVersions : .listObjects).count == (versions ? 12 : 6))
  }

  @Test("versions have their ids and states, and a deleted object is still listed")
  func versions() async throws {
    let box = try box { $0.versioning = true }
    box.fake.putObject("v", bytes: [1])
    box.fake.putObject("v", bytes: [1, 2])
    box.fake.removeObject("v")
    let lines = try await box.run("ls", "--versions", "s3://bucket/v").lines
    #expect(lines.map { $0.split(separator: " ")[1] } == ["deleted", "older", "older"], "\(lines)")
    box.fake.putObject("v", bytes: [1, 2, 3])
    let result = try await box.run("ls", "--versions", "s3://bucket/v", "--json").lines.map(json)
    try #require(result.count == 4)
    #expect(result.map { $0["latest"] as? Bool } == [true, false, false, false])
    #expect(result.map { $0["deleted"] as? Bool } == [false, true, false, false])
    #expect(result.map { $0["size"] as? Int } == [3, nil, 2, 1])
    #expect(result[0]["version_id"] as? String == box.fake.object("v")?.versionID)
    #expect(try await box.run("ls", "s3://bucket/v").lines == ["v"])
  }

  @Test("without an argument the buckets are listed")
  func buckets() async throws {
    let box = try box { $0.buckets = ["bucket", "other"] }
    let result = try await box.run("ls")
    result.expectSuccess()
    #expect(result.lines == ["bucket", "other"])
    let first = try json(#require(try await box.run("ls", "--json").lines.first))
    #expect(
      first["event"] as? String == "bucket" && first["bucket"] as? String == "bucket" && first["created"] is String)
    try await box.run("ls", "-r").expectUsage("needs a bucket")
  }

  @Test("no key with the prefix, and no such bucket, is 69; an empty bucket is an empty list")
  func missing() async throws {
    let box = try box { $0.buckets = ["bucket", "empty"] }
    try await box.run("ls", "s3://bucket/nothing").expectFailure(69, "no key begins with this", "s3up ls s3://bucket")
    try await box.run("ls", "s3://no-such-bucket").expectFailure(69, "NoSuchBucket")
    let empty = try await box.run("ls", "s3://empty")
    empty.expectSuccess()
    #expect(empty.output == "")
    try await box.run("ls", "s3://empty/").expectSuccess()
  }

  @Test("a reader that ends early ends the list, without a message")
  func readerEnds() async throws {
    let box = try box { $0.pageLimit = 100 }
    for number in 0..<5000 {
      box.fake.putObject("many/\(10_000 + number)-" + String(repeating: "x", count: 200), bytes: [])
    }
    let result = try await box.shell("{ \"$S3UP\" ls -r s3://bucket; echo $? >status; } | head -n 1")
    #expect(result.errors == "" && result.lines.count == 1)
    #expect(try box.files.read("status").elementsEqual(Array("0\n".utf8)))
    #expect(box.fake.requests(.listObjects).count < 50, "it does not go on for nobody")
    let full = try await box.shell("\"$S3UP\" ls s3://bucket >/dev/full")
    #expect(full.status == 75 && full.errors.contains("standard output"), "\(full.errors)")
  }

  @Test("a list that never ends is a failure")
  func endless() async throws {
    let box = try box { $0.lists = .endless }
    let result = try await box.run("ls", "-r", "s3://bucket")
    #expect(result.status == 75 && result.errors.contains("does not come to an end"), "\(result.errors)")
    #expect(box.fake.requests(.listObjects).count < 10)
  }

  @Test("what a bucket may require of a reader is sent: who pays, the owner, no signature")
  func settings() async throws {
    let box = try box { $0.requesterPays = true }
    try await box.run("ls", "s3://bucket").expectFailure(77)
    let result = try await box.run("ls", "s3://bucket", "--request-payer", "--expected-bucket-owner", "123456789012")
    #expect(result.lines == ["p/", "q"], "\(result.errors)")
    let open = try self.box { $0.allowsAnonymous = true }
    #expect(try await open.run("ls", "s3://bucket", "--no-sign-request").lines == ["p/", "q"])
  }
}

extension ChildProcess.Result {
  /// Expects exit code 64 before any request, with a word about what is wrong.
  func expectUsage(_ word: String, where location: SourceLocation = #_sourceLocation) {
    #expect(status == 64 && (errors + output).contains(word), "\(errors)", sourceLocation: location)
  }
}
