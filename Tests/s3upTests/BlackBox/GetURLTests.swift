import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// `get https://…`: an object behind a presigned URL, without credentials.
@Suite(.crowd) struct GetURLTests {
  private static let size = 3 * mebi + 70_001
  private let ranges = ["--part-size", "640K"]

  /// A store with the object, its URL, and the box of a user who has only the URL.
  private func box(
    _ size: Int = size, _ options: [String] = [], _ change: (inout FakeOptions) -> Void = { _ in }
  ) async throws -> (box: BlackBox, url: String, bytes: [UInt8]) {
    let box = try BlackBox(faults: [], change)
    let bytes = try box.sample("source", size, seed: 9)
    box.fake.putObject("a dir/key.bin", bytes: bytes)
    let signed = try await box.run(["presign", "s3://bucket/a dir/key.bin"] + options)
    signed.expectSuccess()
    return (box.stranger, try #require(signed.lines.first), bytes)
  }

  private func names(_ box: BlackBox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: box.files.path).sorted()
  }

  @Test(
    "A URL is downloaded in ranges, without a HEAD, to its path's last name, proven by a signed checksum or its ETag",
    arguments: [0, 1, size], [true, false])
  func arrives(_ size: Int, _ givesChecksums: Bool) async throws {
    let (box, url, bytes) = try await box(size, givesChecksums ? ["--checksum-mode"] : [])
    #expect(url.contains("x-amz-checksum-mode=ENABLED") == givesChecksums)
    let result = try await box.run(["get", url] + ranges)
    result.expectSuccess()
    #expect(try box.files.read("key.bin") == bytes)
    #expect(result.output.contains(givesChecksums ? "; proven by CRC64NVME)" : "; proven by MD5 "), "\(result.output)")
    #expect(result.output.contains(" to key.bin (") && !result.output.contains("X-Amz"), "\(result.output)")
    #expect(box.fake.requests(.headObject).isEmpty)
    #expect(box.fake.requests.allSatisfy { $0.presigned })
    let piped = try await box.shell("\"$S3UP\" get \"$1\" - | cmp - source", [url])
    #expect(piped.status == 0, "\(piped.errors)")
    let taken = try await box.run(["get", "--to-command", url, "--", "cmp", "-", "source"])
    #expect(taken.status == 0, "\(taken.errors)")
  }

  @Test("In the name of a URL's file a plus sign is one")
  func plus() async throws {
    let box = try BlackBox()
    box.fake.putObject("d/a+b c.txt", bytes: [1, 2])
    let signed = try await box.run("presign", "s3://bucket/d/a+b c.txt")
    let url = try #require(signed.lines.first, "\(signed.errors)")
    try await box.run("get", url).expectSuccess()
    #expect(try box.files.read("a+b c.txt") == [1, 2])
    // Other programs leave the plus sign as it is: the name is the same, and the file is there.
    #expect(try await box.run("get", url.replacingOccurrences(of: "%2B", with: "+")).status == 73)
  }

  @Test("The checksum of an object in parts comes without the number of parts, and proves it all the same")
  func composite() async throws {
    let (box, url, _) = try await box(10, ["--checksum-mode"])
    let bytes = try box.sample("source", 3 * mebi)
    box.fake.putObject("a dir/key.bin", bytes: bytes, parts: [mebi, mebi, mebi], checksum: .sha256)
    let result = try await box.run(["get", url, "target", "--json"])
    #expect((result.json["evidence"] as? String)?.hasPrefix("SHA256 (composite) ") == true, "\(result.output)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("Wrong bytes and an object that is replaced are 65, and nothing is under the name")
  func wrong() async throws {
    for (fault, words) in [(Fault.Action.corruptAnswer, "are not the object"), (.replaceObject, "was replaced")] {
      let (box, url, _) = try await box()
      // The first request reads the head.
      box.fake.setFaults([Fault(.init(.getObject, from: 3), fault)])
      let result = try await box.run(["get", url, "target", "--concurrency", "1"] + ranges)
      #expect(result.status == 65 && result.output == "" && result.errors.contains(words), "\(result.errors)")
      // Wrong bytes are downloaded once more, which one line reports.
      let lines = result.errors.split(separator: "\n").count
      #expect(lines == (words == "are not the object" ? 3 : 2), "\(result.errors)")
      #expect(try names(box) == ["source"])
    }
  }

  @Test("An expired or changed URL is 77 and reported as such", arguments: [false, true])
  func refused(_ whileItRuns: Bool) async throws {
    let (box, url, bytes) = try await box(Self.size, ["--expires", "1h"])
    let arguments = ["get", url, "target", "--concurrency", "1", "--json"] + ranges
    if whileItRuns {
      box.fake.setFaults([
        Fault(.init(.getObject, from: 4), .error(status: 403, code: "AccessDenied", message: "Request has expired"))
      ])
    } else {
      box.fake.setClockOffset(7200)
    }
    let result = try await box.run(arguments)
    // By its own date it is valid for an hour.
    #expect(
      result.status == 77 && result.errors.contains("the presigned URL has expired, says the store, but by its own"),
      "\(result.errors)")
    #expect(result.json["resumable"] as? Bool == whileItRuns)
    // The URL may be valid for longer than the session that signed it.
    box.fake.setClockOffset(0)
    box.fake.setFaults([Fault(.init(.getObject), .error(status: 400, code: "ExpiredToken"))])
    let session = try await box.run(arguments)
    #expect(session.status == 77 && session.errors.contains("the credentials that signed"), "\(session.errors)")
    #expect(!session.errors.contains("expired at"), "\(session.errors)")
    box.fake.setClockOffset(0)
    box.fake.setFaults([])
    let tampered = try await box.run("get", url.replacing("X-Amz-Expires=3600", with: "X-Amz-Expires=7200"), "other")
    tampered.expectFailure(77, "ask for a new one")
    #expect(!tampered.errors.contains("secret key"), "\(tampered.errors)")
    // Another URL of the same object continues the download.
    var owner = box
    owner.environment["AWS_ACCESS_KEY_ID"] = FakeCredential.standard.keyID
    owner.environment["AWS_SECRET_ACCESS_KEY"] = FakeCredential.standard.secret
    owner.environment["AWS_ENDPOINT_URL_S3"] = box.fake.endpoint
    let next = try #require(
      try await owner.run("presign", "s3://bucket/a dir/key.bin", "--expires", "2h").lines.first)
    let resumed = try await box.run(["get", next, "target", "--json"] + ranges)
    #expect(
      resumed.status == 0 && ((resumed.json["bytes_resumed"] as? Int ?? 0) > 0) == whileItRuns, "\(resumed.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test(
    "The remedy is for whoever holds the URL: what its signer chose or may do cannot be set",
    arguments: [
      (404, "NoSuchKey", 69, "Nothing is there"), (404, "NoSuchBucket", 69, "Nothing is there"),
      (403, "AccessDenied", 77, "Whoever signed the URL may not do this"),
      (301, "PermanentRedirect", 69, "The URL does not lead to a bucket"),
      (403, "InvalidAccessKeyId", 77, "The URL is incomplete"), (400, "InvalidObjectState", 69, "archived"),
    ])
  func remedies(_ status: Int, _ code: String, _ exit: Int32, _ words: String) async throws {
    let (box, url, _) = try await box()
    box.fake.setFaults([Fault(.init(.getObject), .error(status: status, code: code))])
    let result = try await box.run("get", url, "target")
    result.expectFailure(exit, words)
    let withoutCredentials = ["--endpoint-url", "--region", "s3up ls", "other credentials", "bucket's name"]
    #expect(!withoutCredentials.contains { result.errors.contains($0) }, "\(result.errors)")
  }

  @Test("No message, event or record has the signature, whatever a server sends back")
  func secret() async throws {
    let (box, url, _) = try await box()
    let signature = try #require(url.split(separator: "X-Amz-Signature=").last.map { $0.prefix(64) })
    box.fake.setFaults([
      Fault(.init(.getObject, from: 3), .error(status: 400, code: "InvalidArgument", message: "no {signature} here"))
    ])
    var texts: [String] = []
    for arguments in [
      ["get", url, "target", "-vv"], ["get", url, "target", "--json=all"], ["get", url, "no/folder/target"],
      ["get", url, "target", "extra"], ["get", url, "--version-id", "7"], ["put", url], ["get", "s3://b/k", url],
      ["get", url + " ", "target"], ["head", url],
    ] {
      let result = try await box.run(arguments + ["--part-size", "640K"])
      #expect(result.status != 0)
      texts += [result.output, result.errors]
    }
    let folder = box.binary.home.path + "/.local/state/s3up"
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      texts.append(String(decoding: FileManager.default.contents(atPath: folder + "/" + name) ?? Data(), as: UTF8.self))
    }
    #expect(texts.allSatisfy { !$0.contains(signature) })
  }

  @Test("A server that is not a store gives its file, and what it cannot do is reported", arguments: [true, false])
  func anyServer(_ ignoresRanges: Bool) async throws {
    let (box, _, bytes) = try await box(Self.size) {
      ($0.allowsAnonymous, $0.ignoresRanges) = (true, ignoresRanges)
    }
    let url = box.fake.endpoint + "/bucket/a%20dir/key.bin"
    let result = try await box.run(["get", url, "target"] + ranges)
    guard ignoresRanges else {
      result.expectSuccess()
      #expect(try box.files.read("target") == bytes)
      return
    }
    result.expectFailure(69, "--part-size")
    try await box.run("get", url, "target", "--part-size", "8M").expectSuccess()
    #expect(try box.files.read("target") == bytes)
  }

  @Test(
    "Text that is not a URL, has a user, or names no file is 64",
    arguments: [
      "https://", "https://user:s3cret@127.0.0.1/b/k", "http://127.0.0.1/", "https://ho st/b/k", "HTTPS:/host/k",
    ])
  func nonsense(_ url: String) async throws {
    let box = try BlackBox()
    let result = try await box.run("get", url)
    #expect(result.status == 64 && !result.errors.contains("s3cret"), "\(result.errors)")
  }
}
