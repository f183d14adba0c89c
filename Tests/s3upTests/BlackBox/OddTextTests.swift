import Foundation
@testable import MultipartCore
import Support
import Testing

/// Text with letters that Swift joins with the ASCII mark next to them: U+0301 with the one before it, U+0600 with the
/// one after it.
@Suite(.crowd) struct OddTextTests {
  static let joiners = ["\u{301}", "\u{600}"]

  @Test("A file: URL of a batch names the file, whatever its names begin with", arguments: joiners)
  func fileURL(_ joiner: String) async throws {
    let box = try BlackBox()
    try box.sample(joiner + "f" + joiner, 10)
    let key = "\(joiner)/\(joiner)://\(joiner)?\(joiner)"
    let uri = "file://\(joiner == "\u{301}" ? "" : "localhost")\(box.files.path)/\(joiner)f\(joiner)"
    let line = ["localUri": uri, "bucket": "bucket", "key": key]
    try box.files.write(Array(try JSONEncoder().encode(line)), to: "list")
    try await box.run("put", "--batch", "list").expectSuccess()
    #expect(box.fake.object(key)?.size == 10)
  }

  @Test("A file: URL with an accent after its third slash is one of this machine")
  func host() async throws {
    let box = try BlackBox()
    try box.files.write(Array(#"{"localUri":"file:///\#u{301}none","bucket":"bucket","key":"k"}"#.utf8), to: "list")
    let result = try await box.run("put", "--batch", "list")
    #expect(result.status == 66 && !result.errors.contains("host"), "\(result.errors)")
  }

  @Test("A state folder is made with all folders above it", arguments: joiners)
  func stateFolder(_ joiner: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 10 * mebi)
    let folder = "\(joiner)a\(joiner)/\(joiner)b/\(joiner)"
    let result = try await box.run("put", "f", "s3://bucket/k", "--state-dir", folder)
    result.expectSuccess()
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path(folder)).isEmpty == false)
  }

  @Test("Keys, metadata, tags and filters are taken byte for byte", arguments: joiners)
  func object(_ joiner: String) async throws {
    let box = try BlackBox()
    try box.sample("t/f.bin", 10)
    try box.sample("t/\(joiner)f\(joiner).txt", 10)
    try box.sample("t/\(joiner)f\(joiner).bin", 10)
    let value = "=\(joiner)a=\(joiner)"
    try await box.run(
      "put", "-r", "t", "s3://bucket/\(joiner)/\(joiner)", "--include", "*\(joiner).txt", "--exclude", "*.bin",
      "--metadata",
      "n=\(value)", "--tag", "\(joiner)t=\(value)"
    ).expectSuccess()
    #expect(box.fake.objectCount == 1)
    let object = box.fake.object("\(joiner)/\(joiner)/\(joiner)f\(joiner).txt")
    let written = "=?UTF-8?B?\(Data(value.utf8).base64EncodedString())?="
    #expect(object?.headers["x-amz-meta-n"] == written, "\(String(describing: object?.headers))")
    let tags = object?.headers["x-amz-tagging"]?.removingPercentEncoding ?? ""
    #expect(tags.utf8.elementsEqual("\(joiner)t=\(value)".utf8), "\(tags)")
  }

  @Test("The password of a proxy that libcurl repeats is not shown, whatever the address ends in")
  func proxy() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    for proxy in ["socks9://user:hunter2@h\u{600}", "socks9://user:hunter2@h"] {
      let result = try await box.run("put", "f", "s3://bucket/k", "--proxy", proxy, "--retries", "1", "-vvv")
      #expect(result.status != 0 && !result.errors.contains("hunter2"), "\(result.errors)")
    }
  }
}
