import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct StepTests {
  private let key = "s3://bucket/dir/k"

  private func create(_ box: BlackBox, _ more: String...) async throws -> String {
    let result = try await box.run(["create", key] + more)
    result.expectSuccess()
    #expect(result.lines.count == 1)
    return try #require(result.lines.first)
  }

  @Test(
    "a shell script: create, three parts in any order, complete",
    arguments: ["", "--checksum crc64nvme", "--checksum sha256", "--checksum crc32c"])
  func script(_ checksum: String) async throws {
    for secure in [false, true] {
      let box = try BlackBox(secure: secure)
      let bytes = try box.sample("f", 11 * mebi)
      let result = try await box.shell(
        """
        set -e
        id=$("$S3UP" create \(key) \(checksum))
        "$S3UP" part f \(key) --upload-id "$id" --part 3 --offset 10M \(checksum)
        "$S3UP" part f \(key) --upload-id "$id" --part 1 --offset 0 --length 5M \(checksum)
        "$S3UP" part f \(key) --upload-id "$id" --part 2 --offset 5M --length 5M \(checksum)
        "$S3UP" complete \(key) --upload-id "$id"
        """)
      result.expectSuccess()
      #expect(result.lines.count == 4)
      #expect(result.lines.last?.hasPrefix("completed \(key) (11 MiB in 3 parts; ") == true)
      let object = try #require(box.fake.object("dir/k"))
      #expect(object.holds(bytes))
      #expect(Set(result.lines.dropLast()) == Set(object.parts.map { "\"\($0.etag)\"" }))
    }
  }

  @Test("files are sent as whole parts, and replace the earlier part if sent again")
  func files() async throws {
    let box = try BlackBox()
    let id = try await create(box)
    let one = try box.sample("one", 5 * mebi)
    let step = [key, "--upload-id", id]
    try box.sample("two", 1000, seed: 2)
    try await box.run(["part", "one"] + step + ["--part", "1"]).expectSuccess()
    try await box.run(["part", "two"] + step + ["--part", "2"]).expectSuccess()
    let two = try box.sample("two", 2000, seed: 3)
    try await box.run(["part", "two"] + step + ["--part", "2"]).expectSuccess()
    let said = try await box.run(["complete"] + step + ["--json"])
    said.expectSuccess()
    #expect(said.json["event"] as? String == "completed")
    #expect(said.json["parts"] as? Int == 2)
    #expect(said.json["size"] as? Int == 5 * mebi + 2000)
    #expect(box.fake.object("dir/k")?.holds(one + two) == true)
  }

  @Test("parts lists number, size and ETag over many pages; uploads counts them")
  func lists() async throws {
    let box = try BlackBox {
      $0.pageLimit = 2
      $0.minimumPartSize = 1
    }
    let id = try await create(box)
    var etags: [String] = []
    for number in [5, 1, 4, 2, 3] {
      try box.sample("p", number * 10, seed: UInt64(number))
      try await box.run("part", "p", key, "--upload-id", id, "--part", String(number)).expectSuccess()
    }
    for part in box.fake.unfinishedUploads[0].parts.values.sorted(by: { $0.number < $1.number }) {
      etags.append("\(part.number) \(part.size) \"\(part.etag)\"")
    }
    let parts = try await box.run("parts", key, "--upload-id", id)
    parts.expectSuccess()
    #expect(parts.lines.count == 5)
    for (line, expected) in zip(parts.lines, etags) { #expect(line.hasPrefix(expected), "\(line)") }
    let json = try await box.run("parts", key, "--upload-id", id, "--json")
    #expect(json.lines.count == 5 && json.lines[4].hasPrefix("{\"part\":5,\"size\":50,"))

    for other in ["s3://bucket/dir/other", "s3://bucket/elsewhere"] {
      try await box.run("create", other).expectSuccess()
    }
    let uploads = try await box.run("uploads", "s3://bucket/dir/")
    uploads.expectSuccess()
    #expect(uploads.lines.count == 2)
    let line = uploads.lines.first { $0.contains(id) } ?? ""
    #expect(line.contains("5 parts") && line.contains("150 B") && line.contains("s3://bucket/dir/k"), "\(line)")
    #expect(try await box.run("uploads", "s3://bucket").lines.count == 3)
    let object = try await box.run("uploads", "s3://bucket/dir/k", "--json").json
    #expect(object["upload_id"] as? String == id)
    #expect(object["key"] as? String == "dir/k")
    #expect(object["parts"] as? Int == 5)
    #expect(object["bytes"] as? Int == 150)
    #expect((object["initiated"] as? String)?.hasSuffix("Z") == true)
    #expect(object["age_seconds"] as? Int ?? -1 >= 0)
  }

  @Test("complete --parts-file uses the listed parts, from a file or standard input")
  func partsFile() async throws {
    for input in [false, true] {
      let box = try BlackBox { $0.minimumPartSize = 1 }
      let id = try await create(box)
      var kept: [UInt8] = []
      var list = "# the parts\n\n"
      for number in 1...3 {
        let bytes = try box.sample("p", 100, seed: UInt64(number))
        let part = try await box.run("part", "p", key, "--upload-id", id, "--part", String(number))
        if number < 3 {
          list = "\(number)\t\(part.lines[0])\n" + list
          kept += bytes
        }
      }
      try box.files.write(list, to: "list")
      let result = try await box.run(
        ["complete", key, "--upload-id", id, "--parts-file", input ? "-" : "list"],
        input: input ? .bytes(Array(list.utf8)) : .none)
      result.expectSuccess()
      #expect(box.fake.object("dir/k")?.holds(kept) == true)
    }
  }

  @Test("with a list that differs from the store's nothing is completed")
  func wrongList() async throws {
    let box = try BlackBox()
    let id = try await create(box)
    try box.sample("p", 100)
    try await box.run("part", "p", key, "--upload-id", id, "--part", "1").expectSuccess()
    let complete = ["complete", key, "--upload-id", id, "--parts-file", "list"]
    for (text, exit) in [
      ("1 \"0123456789abcdef0123456789abcdef\"\n", Int32(65)), ("2 \"0123456789abcdef0123456789abcdef\"\n", 65),
      ("one two\n", 64), ("1 \"a\"\n1 \"a\"\n", 64), ("", 64),
    ] {
      try box.files.write(text, to: "list")
      try await box.run(complete).expectFailure(exit)
    }
    try await box.run("complete", key, "--upload-id", id, "--parts-file", "missing").expectFailure(66, "missing")
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
    #expect(box.fake.unfinishedUploads.count == 1)
  }

  @Test("complete without parts is 65 and keeps the upload")
  func noParts() async throws {
    let box = try BlackBox()
    let id = try await create(box)
    try await box.run("complete", key, "--upload-id", id).expectFailure(65, "no parts")
    #expect(box.fake.unfinishedUploads.count == 1)
  }

  @Test("complete accepts conditions and survives a lost answer; after a failure the upload is kept")
  func completeFaults() async throws {
    let box = try BlackBox()
    try box.sample("p", 100)
    let id = try await create(box)
    try await box.run("part", "p", key, "--upload-id", id, "--part", "1").expectSuccess()
    box.fake.putObject("dir/k", bytes: [1])
    let complete = ["complete", key, "--upload-id", id]
    try await box.run(complete + ["--if-none-match"]).expectFailure(73, "already exists")
    // Whoever may not look leaves it to the store.
    box.fake.setFaults([Fault(.init(.headObject), .error(status: 403, code: "AccessDenied"))])
    try await box.run(complete + ["--if-none-match"]).expectFailure(73, "PreconditionFailed")
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), .error(status: 403, code: "AccessDenied"))])
    try await box.run(complete).expectFailure(77, "AccessDenied")
    #expect(box.fake.unfinishedUploads.count == 1)
    box.fake.setFaults([Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer)])
    try await box.run(complete).expectSuccess()
    #expect(box.fake.object("dir/k")?.size == 100)
    try await box.run(complete).expectFailure(69, "NoSuchUpload")
  }

  @Test(
    "abort ends the upload; a second abort says that the store has none",
    arguments: [FakeOptions.Repeated.success, .noSuchUpload])
  func abort(_ repeated: FakeOptions.Repeated) async throws {
    let box = try BlackBox { $0.repeatedAbort = repeated }
    let id = try await create(box)
    try box.sample("p", 100)
    try await box.run("part", "p", key, "--upload-id", id, "--part", "1").expectSuccess()
    let abort = ["abort", key, "--upload-id", id]
    let first = try await box.run(abort)
    first.expectSuccess()
    #expect(first.output == "aborted \(key) (upload \(id), nothing is left of it)\n")
    box.expectNothingLeft()
    try await box.run(abort).expectFailure(69, "has no upload \(id) at \(key)", "s3up uploads s3://bucket")
    try await box.run("parts", key, "--upload-id", id).expectFailure(69, "NoSuchUpload")
    try await box.run("part", "p", key, "--upload-id", id, "--part", "1").expectFailure(69, "NoSuchUpload", "part 1")
    #expect(try await box.run("uploads", "s3://bucket").output == "")
  }

  @Test("abort with the id of another key's upload aborts nothing, and names that key")
  func abortElsewhere() async throws {
    let box = try BlackBox()
    let id = try await create(box)
    let abort = ["abort", "s3://bucket/dir/other", "--upload-id", id]
    try await box.run(abort).expectFailure(69, "another key", "s3up abort \(key) --upload-id=")
    try await box.run(["abort", key, "--upload-id", id + "x"]).expectFailure(69, "has no upload \(id)x at \(key)")
    #expect(box.fake.unfinishedUploads.map(\.id) == [id])
    // Without the permission to list, the message says only what is known.
    box.fake.setFaults([Fault(.init(.listMultipartUploads), .error(status: 403, code: "AccessDenied"))])
    try await box.run(abort).expectFailure(69, "has no upload")
  }

  @Test(
    "An abort is a success if its answer is lost, if parts may not be listed, or if the upload is recorded here")
  func abortKnown() async throws {
    let box = try BlackBox()
    var id = try await create(box)
    box.fake.setFaults([Fault(.init(.abortMultipartUpload, nth: 1), .loseAnswer)])
    let lost = try await box.run("abort", key, "--upload-id", id)
    #expect(lost.status == 0 && lost.output.contains("was already gone"), "\(lost.errors)")
    id = try await create(box)
    box.fake.setFaults([Fault(.init(.listParts), .error(status: 403, code: "AccessDenied"))])
    let unlisted = try await box.run("abort", key, "--upload-id", id, "--json")
    unlisted.expectSuccess()
    #expect(unlisted.json["confirmed"] as? Bool == false && unlisted.json["was_gone"] as? Bool == false)
    box.expectNothingLeft()
    id = try await create(box)
    let words = try await box.run("abort", key, "--upload-id", id).output
    #expect(
      words == "aborted \(key) (upload \(id), the store refuses to list its parts, which would show that none remain)\n"
    )

    try box.sample("f", 11 * mebi)
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), .error(status: 503, code: "SlowDown"))])
    let kept = try await box.run("put", "f", key, "--part-size=5M", "--retries=1")
    #expect(kept.status == 75, "\(kept.errors)")
    id = try #require(box.fake.unfinishedUploads.first?.id)
    // Another machine has ended it.
    box.fake.setFaults([])
    var other = try BlackBox()
    other.environment = box.environment
    try await other.run("abort", key, "--upload-id", id).expectSuccess()
    let again = try await box.run("abort", key, "--upload-id", id)
    #expect(again.status == 0 && again.output.contains("was already gone"), "\(again.errors)")
    // Its record went with it.
    try await box.run("abort", key, "--upload-id", id).expectFailure(69, "has no upload")
  }

  @Test("a slice is sent exactly, even an empty one")
  func slices() async throws {
    let box = try BlackBox { $0.minimumPartSize = 0 }
    let bytes = try box.sample("f", 1000)
    let id = try await create(box)
    let part = ["part", "f", key, "--upload-id", id, "--part"]
    try await box.run(part + ["1", "--offset", "100", "--length", "50"]).expectSuccess()
    try await box.run(part + ["2", "--offset", "1000"]).expectSuccess()
    try await box.run(part + ["10000", "--offset", "999"]).expectSuccess()
    let held = try #require(box.fake.unfinishedUploads.first?.parts)
    #expect(held[1]?.bytes == Array(bytes[100..<150]))
    #expect(held[2]?.bytes == [])
    #expect(held[10_000]?.bytes == [bytes[999]])
  }

  @Test("create with --json prints the id; -q keeps what scripts read")
  func answers() async throws {
    let box = try BlackBox()
    let json = try await box.run("create", key, "--json").json
    #expect(json["upload_id"] as? String == box.fake.unfinishedUploads.first?.id)
    #expect(json["bucket"] as? String == "bucket" && json["key"] as? String == "dir/k")
    #expect(try await box.run("create", key, "-q").lines.count == 1)
  }

  @Test(
    "an endless list of the store does not hang a command",
    arguments: [
      FakeOptions.ListParts.endless, .noMarker, .inclusiveMarker, .onePage,
    ])
  func oddLists(_ kind: FakeOptions.ListParts) async throws {
    let box = try BlackBox {
      $0.pageLimit = 2
      $0.listParts = kind
      $0.minimumPartSize = 1
    }
    let id = try await create(box)
    for number in 1...5 {
      try box.sample("p", 10, seed: UInt64(number))
      try await box.run("part", "p", key, "--upload-id", id, "--part", String(number)).expectSuccess()
    }
    let parts = try await box.run("parts", key, "--upload-id", id)
    if kind == .endless {
      parts.expectFailure(75)
    } else {
      parts.expectSuccess()
      #expect(parts.lines.map { $0.prefix(1) } == ["1", "2", "3", "4", "5"])
    }
  }
}
