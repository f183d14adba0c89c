import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// Listings of a store that encodes keys without saying so, or encodes them in its own way.
@Suite(.crowd) struct OddKeyListTests {
  static let keys = [
    "c d", "a\"b", "a%b", "a%20b", "a&b", "a<b", "a>b", "a?b", "a+b", "ä", "a|b", "a#b", "a\\b", "a'b", "a=b", "plain",
  ].map { "n/" + $0 }

  @Test("an unfinished upload is listed, and aborted, at its own key", arguments: keys)
  func abort(_ key: String) async throws {
    let box = try BlackBox { $0.listedKeys = .asCeph }
    try await box.run("create", "s3://bucket/\(key)").expectSuccess()
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    for prefix in ["", "n/", key] {
      let list = try await box.run("uploads", "s3://bucket/\(prefix)", "--json").output
      #expect(list.contains(JSON.object([("key", .string(key))]).encoded.dropFirst().dropLast()), "\(list)")
    }
    try await box.run("abort", "s3://bucket/\(key)", "--upload-id", id).expectSuccess()
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("all unfinished uploads are listed, whatever their keys are")
  func all() async throws {
    let box = try BlackBox { $0.listedKeys = .asCeph }
    for key in Self.keys { try await box.run("create", "s3://bucket/\(key)").expectSuccess() }
    let lines = try await box.run("uploads", "s3://bucket").output.split(separator: "\n").map { String($0) }
    #expect(Set(lines.compactMap { $0.components(separatedBy: "s3://bucket/").last }) == Set(Self.keys))
  }

  @Test("one | in a key does not keep a tree from being recognized")
  func same() async throws {
    let box = try BlackBox { $0.listedKeys = .asCeph }
    for name in ["t/a|b", "t/c d", "t/sub/e"] { try box.sample(name, 100) }
    try await box.run("put", "-r", "t", "s3://bucket/p/").expectSuccess()
    let before = box.fake.requests(.headObject).count
    try await box.run("put", "-r", "t", "s3://bucket/p/", "--skip-same").expectSuccess()
    #expect(box.fake.requests(.putObject).count == 3)
    #expect(box.fake.requests(.headObject).count == before)
  }
}
