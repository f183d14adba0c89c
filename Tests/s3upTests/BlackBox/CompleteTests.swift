import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// What `complete` assembles, and what it refuses.
@Suite(.crowd) struct CompleteTests {
  private let key = "s3://bucket/dir/k"

  /// Makes an upload with parts of these numbers at the store; returns its id and their bytes in order.
  private func upload(
    _ box: BlackBox, _ numbers: [Int], _ more: [String] = []
  ) async throws -> (id: String, bytes: [UInt8]) {
    let id = try #require(try await box.run(["create", key] + more).lines.first)
    var bytes: [UInt8] = []
    for number in numbers {
      bytes += try box.sample("p", 100 + number, seed: UInt64(number))
      try await box.run(["part", "p", key, "--upload-id", id, "--part", String(number)] + more).expectSuccess()
    }
    return (id, bytes)
  }

  private func small() throws -> BlackBox { try BlackBox { $0.minimumPartSize = 1 } }

  @Test(
    "With a missing number nothing is completed, and the missing numbers are named",
    arguments: [([1, 3], "part 2 of 1-3"), ([2], "part 1 of 1-2"), ([1, 4, 6, 10], "parts 2-3, 5 and 7-9 of 1-10")])
  func gaps(_ numbers: [Int], _ words: String) async throws {
    let box = try small()
    let (id, bytes) = try await upload(box, numbers)
    let complete = ["complete", key, "--upload-id", id]
    try await box.run(complete).expectFailure(65, words, "--allow-gaps")
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
    #expect(box.fake.unfinishedUploads.count == 1)
    try await box.run(complete + ["--allow-gaps"]).expectSuccess()
    #expect(box.fake.object("dir/k")?.holds(bytes) == true)
  }

  @Test(
    "If an entry of the store's list cannot be read, nothing is completed or listed",
    arguments: ["<PartNumber>3</PartNumber><Size>x</Size>", "<PartNumber>10001</PartNumber><Size>1</Size>", ""])
  func unreadable(_ last: String) async throws {
    let box = try small()
    let (id, bytes) = try await upload(box, [1, 2, 3])
    let etags = try #require(box.fake.unfinishedUploads.first?.parts).mapValues(\.etag)
    let first = [1, 2].map {
      "<Part><PartNumber>\($0)</PartNumber><ETag>\(etags[$0] ?? "")</ETag><Size>\(100 + $0)</Size></Part>"
    }
    let list = "<ListPartsResult>\(first.joined())<Part>\(last)</Part></ListPartsResult>"
    box.fake.setFaults([Fault(.init(.listParts), .document(status: 200, text: list, type: "application/xml"))])
    try await box.run("complete", key, "--upload-id", id).expectFailure(75, "an entry that cannot be read")
    try await box.run("parts", key, "--upload-id", id).expectFailure(75, "an entry that cannot be read")
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
    box.fake.setFaults([])
    try await box.run("complete", key, "--upload-id", id).expectSuccess()
    #expect(box.fake.object("dir/k")?.holds(bytes) == true)
  }

  @Test(
    "A list that leaves out a number is refused before the store is asked for anything",
    arguments: [([1, 3], "part 2 of 1-3"), ([2, 3], "part 1 of 1-3")])
  func gapsInList(_ numbers: [Int], _ words: String) async throws {
    let box = try small()
    let (id, _) = try await upload(box, [1, 2, 3])
    let etags = try #require(box.fake.unfinishedUploads.first?.parts).mapValues { "\"\($0.etag)\"" }
    try box.files.write(numbers.map { "\($0) \(etags[$0] ?? "")\n" }.joined(), to: "noted")
    let asked = box.fake.requests.count
    let complete = ["complete", key, "--upload-id", id, "--parts-file", "noted"]
    try await box.run(complete).expectFailure(65, words, "noted")
    #expect(box.fake.requests.count == asked)
    try await box.run(complete + ["--allow-gaps"]).expectSuccess()
    #expect(box.fake.object("dir/k")?.parts.count == 2)
  }

  @Test(
    "complete --parts-file accepts the output of parts",
    arguments: ["", "--json"], ["", "--checksum=sha256", "--checksum=crc64nvme"])
  func roundTrip(_ form: String, _ checksum: String) async throws {
    let box = try small()
    let (id, bytes) = try await upload(box, [1, 2, 3], checksum.isEmpty ? [] : [checksum])
    let result = try await box.shell(
      "\"$S3UP\" parts \(key) --upload-id \(id) \(form) | "
        + "\"$S3UP\" complete \(key) --upload-id \(id) --parts-file -")
    result.expectSuccess()
    #expect(box.fake.object("dir/k")?.holds(bytes) == true)
  }

  @Test("A list of parts on standard input is read from where the shell has left it")
  func restOfInput() async throws {
    let box = try small()
    let (id, bytes) = try await upload(box, [1, 2])
    let list = try await box.run("parts", key, "--upload-id", id).output
    try box.files.write("not a part\n" + list, to: "list")
    let result = try await box.shell(
      "(read line; exec \"$S3UP\" complete \(key) --upload-id \(id) --parts-file -) <list")
    result.expectSuccess()
    #expect(box.fake.object("dir/k")?.holds(bytes) == true)
  }

  @Test("An interrupted complete without a list says how to see whether the object is there")
  func interrupted() async throws {
    let box = try small()
    let (id, _) = try await upload(box, [1])
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), .stall(stage: .beforeAnswer))])
    let child = try box.start(["complete", key, "--upload-id", id])
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
    child.signal(SIGTERM)
    await child.wait(timeout: .seconds(30)).expectFailure(143, "the object may exist", "s3up head \(key)")
  }

  @Test("With a list of other checksums than the store's nothing is completed")
  func otherSums() async throws {
    let box = try small()
    let (id, _) = try await upload(box, [1], ["--checksum=crc32c"])
    let line = try #require(try await box.run("parts", key, "--upload-id", id).lines.first)
    try box.files.write(line.prefix { $0 != ":" } + ":AAAAAA==\n", to: "list")
    try await box.run("complete", key, "--upload-id", id, "--parts-file", "list")
      .expectFailure(65, "the list says AAAAAA==")
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
  }

  @Test("part --json has the checksums that a store needs at the end and does not list itself")
  func unlistedSums() async throws {
    let box = try small()
    let id = try #require(try await box.run("create", key, "--checksum=sha256").lines.first)
    let bytes = try box.sample("p", 100)
    let words = ["part", "p", key, "--upload-id", id, "--part", "1", "--checksum=sha256", "--json"]
    let part = try await box.run(words)
    try box.files.write(part.output, to: "list")
    let listed = try #require(box.fake.unfinishedUploads.first?.parts[1])
    let list =
      "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>\(listed.etag)</ETag><Size>100</Size></Part></ListPartsResult>"
    box.fake.setFaults([Fault(.init(.listParts), .document(status: 200, text: list, type: "application/xml"))])
    try await box.run("complete", key, "--upload-id", id, "--parts-file", "list").expectSuccess()
    #expect(box.headers(.completeMultipartUpload)["x-amz-checksum-type"] == "COMPOSITE")
    #expect(box.fake.object("dir/k")?.holds(bytes) == true)
  }

  @Test(
    "A condition holds also at a store that ignores it",
    arguments: [("--if-none-match", "already exists"), ("--if-match=\"0\"", "different ETag")])
  func ignoredCondition(_ condition: String, _ why: String) async throws {
    let box = try BlackBox {
      $0.minimumPartSize = 1
      $0.conditionsAtComplete = false
    }
    let (id, bytes) = try await upload(box, [1, 2])
    box.fake.putObject("dir/k", bytes: [7])
    let complete = ["complete", key, "--upload-id", id]
    try await box.run(complete + [condition]).expectFailure(73, why)
    #expect(box.fake.object("dir/k")?.bytes == [7] && box.fake.unfinishedUploads.count == 1)
    try await box.run(complete + ["--if-match=*"]).expectSuccess()
    #expect(box.fake.object("dir/k")?.holds(bytes) == true)
  }

  @Test("With a list of other sizes than the store's nothing is completed")
  func otherSize() async throws {
    let box = try small()
    let (id, _) = try await upload(box, [1])
    let line = try #require(try await box.run("parts", key, "--upload-id", id).lines.first)
    try box.files.write(line.replacingOccurrences(of: "1 101 ", with: "1 102 ") + "\n", to: "list")
    try await box.run("complete", key, "--upload-id", id, "--parts-file", "list").expectFailure(65, "102")
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
  }

  @Test(
    "complete --parts-file of a completed upload is unchanged if the object is made of these parts",
    arguments: ["", "--checksum=sha256", "--checksum=crc64nvme"])
  func doneBefore(_ checksum: String) async throws {
    let box = try small()
    let (id, _) = try await upload(box, [1, 2], checksum.isEmpty ? [] : [checksum])
    try box.files.write(try await box.run("parts", key, "--upload-id", id).output, to: "list")
    let complete = ["complete", key, "--upload-id", id, "--parts-file", "list"]
    try await box.run(complete).expectSuccess()
    let again = try await box.run(complete)
    again.expectSuccess()
    #expect(again.output.hasPrefix("unchanged \(key): it was made of these parts before (203 B in 2 parts; "))
    let json = try await box.run(complete + ["--json"]).json
    #expect(json["event"] as? String == "unchanged" && json["size"] as? Int == 203 && json["parts"] as? Int == 2)
    // A list made by hand has only numbers and ETags.
    let parts = try #require(box.fake.object("dir/k")?.parts)
    try box.files.write("1 \(parts[0].etag)\n2 \"\(parts[1].etag)\"\n", to: "list")
    try await box.run(complete).expectSuccess()
    #expect(box.fake.object("dir/k")?.parts.count == 2)
  }

  @Test("If ETags say nothing, only the parts' checksums prove what the object is made of")
  func doneWithoutMD5() async throws {
    let box = try BlackBox {
      $0.minimumPartSize = 1
      $0.partETags = .opaque
    }
    let (id, _) = try await upload(box, [1, 2], ["--checksum=sha256"])
    let list = try await box.run("parts", key, "--upload-id", id)
    try box.files.write(list.output, to: "list")
    try box.files.write(
      list.lines.map { $0.split(separator: " ").prefix(3).joined(separator: " ") + "\n" }.joined(), to: "bare")
    let complete = ["complete", key, "--upload-id", id, "--parts-file"]
    try await box.run(complete + ["list"]).expectSuccess()
    try await box.run(complete + ["list"]).expectSuccess()
    box.fake.putObject("dir/k", bytes: [UInt8](repeating: 7, count: 203))
    try await box.run(complete + ["list"]).expectFailure(69, "NoSuchUpload")
    try await box.run(complete + ["bare"]).expectFailure(69, "NoSuchUpload")
  }

  @Test("An object of other parts, no object, or a condition: an upload that is gone stays 69")
  func goneAndNotDone() async throws {
    let box = try small()
    let (id, bytes) = try await upload(box, [1, 2])
    try box.files.write(try await box.run("parts", key, "--upload-id", id).output, to: "list")
    let complete = ["complete", key, "--upload-id", id, "--parts-file", "list"]
    try await box.run(complete).expectSuccess()
    try await box.run(complete + ["--if-none-match"]).expectFailure(69, "NoSuchUpload")
    // The same bytes, but not made of these parts.
    box.fake.putObject("dir/k", bytes: bytes)
    try await box.run(complete).expectFailure(69, "NoSuchUpload")
    let (other, _) = try await upload(box, [2, 1])
    try await box.run("abort", key, "--upload-id", other).expectSuccess()
    try await box.run("complete", key, "--upload-id", other, "--parts-file", "list").expectFailure(69, "NoSuchUpload")
    #expect(box.fake.object("dir/k")?.holds(bytes) == true)
  }
}
