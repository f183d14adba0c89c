import Foundation
@testable import MultipartCore
import Support
import Testing

/// The list of `--failed-to` and the command printed with it, which must send exactly what failed, to the same keys.
@Suite(.timeLimit(.minutes(15))) struct FailedListTests {
  private func commands(_ result: ChildProcess.Result) -> [String] {
    result.errors.split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("s3up put ") || $0.hasPrefix("s3up get ") }
  }

  @Test("What cannot be read in a folder is listed with its key, for put and for verify")
  func unreadable() async throws {
    let box = try BlackBox()
    try box.sample("t/a", 3)
    try box.sample("t/sub/b", 3)
    #expect(symlink("later", box.files.path("t/sub/link")) == 0)
    let words = ["-r", "t", "s3://bucket/p/", "--follow-symlinks", "--failed-to", "failed"]
    let put = try await box.run(["put"] + words)
    #expect(put.status == 66 && box.fake.objectCount == 2, "\(put.errors)")
    #expect(try box.files.read("failed") == Array("t/./sub/link\n".utf8))
    #expect(commands(put) == ["s3up put --files-from failed --follow-symlinks s3://bucket/p/"])
    let content = try box.sample("t/sub/later", 5)
    try await box.run("put", "--files-from", "failed", "s3://bucket/p/").expectSuccess()
    #expect(box.fake.object("p/sub/link")?.size == content.count && box.fake.objectCount == 3)
    try FileManager.default.removeItem(atPath: box.files.path("t/sub/later"))
    let verify = try await box.run(["verify"] + words)
    #expect(verify.status == 66, "\(verify.errors)")
    #expect(try box.files.read("failed") == Array("t/./sub/link\n".utf8))
  }

  @Test("Of a batch the lines are listed, with bucket, key and metadata, as --batch reads them")
  func batch() async throws {
    let box = try BlackBox()
    try box.sample("a", 3)
    let line = #"{"localUri":"later","bucket":"bucket","key":"x/b","metadata":{"m":"1"}}"#
    try box.files.write(#"{"localUri":"a","bucket":"bucket","key":"x/a"}"# + "\n" + line + "\n", to: "batch.jsonl")
    let first = try await box.run("put", "--batch", "batch.jsonl", "--failed-to", "failed")
    #expect(first.status == 66 && first.errors.contains("  failed: later\n"), "\(first.errors)")
    #expect(try box.files.read("failed") == Array((line + "\n").utf8))
    #expect(commands(first) == ["s3up put --batch failed"], "\(first.errors)")
    try box.sample("later", 5)
    try await box.run("put", "--batch", "failed").expectSuccess()
    #expect(box.fake.object("x/b")?.headers["x-amz-meta-m"] == "1")
  }

  @Test("A name that is not UTF-8 is listed by its bytes")
  func bytes() async throws {
    let box = try BlackBox()
    try box.sample("t/a", 3)
    let folder = Array((box.files.path("t") + "/x").utf8) + [0xFF, 0]
    let descriptor = folder.withUnsafeBytes {
      open($0.baseAddress!.assumingMemoryBound(to: CChar.self), O_CREAT | O_WRONLY, 0o644)
    }
    #expect(descriptor >= 0 && close(descriptor) == 0)
    let put = ["-r", "t", "s3://bucket/p/", "--failed-to", "failed"]
    let refused = try await box.run(["put"] + put + ["--non-utf8", "refuse"])
    #expect(refused.status == 64 && box.fake.objectCount == 1, "\(refused.errors)")
    #expect(try box.files.read("failed") == Array("t/./x".utf8) + [0xFF, 0x0A])
    try await box.run("put", "--files-from", "failed", "s3://bucket/p/").expectSuccess()
    #expect(box.fake.object("p/x%FF") != nil)
    // The name of one file is escaped alike.
    let one = #"exec "$S3UP" $0 "$(printf 't/x\377')" s3://bucket/one/"#
    try await box.shell(one.replacing("$0", with: "put")).expectSuccess()
    #expect(box.fake.object("one/x%FF") != nil)
    try await box.shell(one.replacing("$0", with: "verify")).expectSuccess()
    try await box.shell(one.replacing("$0", with: "put --non-utf8 refuse"))
      .expectFailure(64, "the file's name is not UTF-8")
  }

  @Test("A folder whose files are not known is not listed, and no command promises to send it")
  func folder() async throws {
    let box = try BlackBox()
    try box.sample("t/a", 3)
    try box.sample("t/\(String(repeating: "d", count: 200))/b", 3)
    let prefix = "s3://bucket/" + String(repeating: "p", count: 900) + "/"
    let put = try await box.run("put", "-r", "t", prefix, "--failed-to", "failed")
    #expect(put.status == 64 && box.fake.objectCount == 1, "\(put.errors)")
    #expect(try box.files.read("failed").isEmpty)
    #expect(put.errors.contains("failed leaves out 1 failure that it cannot name"), "\(put.errors)")
    #expect(commands(put).isEmpty)
  }

  @Test("A file whose key belongs to another file is not listed: sent by its name it would replace that object")
  func double() async throws {
    let box = try BlackBox()
    let make = #"mkdir t; printf RAW >"t/$(printf 'n\377')"; printf ESCAPED >t/n%FF; printf 1 >t/m"#
    #expect(try await box.shell(make).status == 0)
    let put = try await box.run("put", "-r", "t", "s3://bucket/p/", "--failed-to", "failed")
    #expect(put.status == 64 && put.errors.contains("failed leaves out 1 failure"), "\(put.errors)")
    #expect(try box.files.read("failed").isEmpty && commands(put).isEmpty)
  }

  @Test("The command has the options that decide what happens to an object, and none that chose the files")
  func options() async throws {
    let box = try BlackBox()
    for name in ["a", "b", "c.tmp"] { try box.sample("t/" + name, 3) }
    box.fake.addFault(Fault(.init(.putObject, key: "p/a"), .error(status: 403, code: "AccessDenied")))
    let put = try await box.run(
      "put", "--exclude=*.tmp", "-r", "t", "s3://bucket/p/", "--if-none-match", "--metadata=note=two words",
      "--no-accelerate", "--failed-to", "failed", "--manifest", "m", "--shard", "1/1", "-0")
    #expect(put.status == 77, "\(put.errors)")
    #expect(
      commands(put) == [
        "s3up put --files-from failed --if-none-match --metadata 'note=two words' --no-accelerate -0 s3://bucket/p/"
      ])
    let get = try await box.run("get", "s3://bucket/p/b", "s3://bucket/p/none", "back", "--failed-to", "failed", "-q")
    #expect(get.status == 69, "\(get.errors)")
    #expect(commands(get) == ["s3up get --files-from failed -q s3://bucket/p/ back"], "\(get.errors)")
  }

  @Test("Names that begin with a dash are no options of the command, and what a variable asks for is not asked twice")
  func dashes() async throws {
    var box = try BlackBox()
    for name in ["a", "b"] { box.fake.putObject("p/" + name, bytes: [1]) }
    box.fake.addFault(Fault(.init(.getObject, key: "p/a"), .error(status: 403, code: "AccessDenied")))
    let get = try await box.run("get", "-r", "s3://bucket/p", "--failed-to=--list", "--", "-out")
    #expect(get.status == 77, "\(get.errors)")
    #expect(commands(get) == ["s3up get --files-from=--list s3://bucket/p/ ./-out"], "\(get.errors)")
    try box.sample("f", 3)
    box.fake.addFault(Fault(.init(.putObject), .error(status: 403, code: "AccessDenied")))
    let headers = [
      ("X-Api-Key: s3cr3tvalue", false), ("X-Session-Id: s3cr3tvalue", false), ("X-Plain: s3cr3tvalue", true),
    ]
    for (header, isShown) in headers {
      let put = try await box.run("put", "f", "s3://bucket/q/", "--failed-to", "list", "--header", header)
      #expect(put.status == 77 && commands(put).count == (isShown ? 1 : 0), "\(put.errors)")
      #expect(put.errors.contains("s3cr3tvalue") == isShown)
    }
    box.environment["S3UP_FAILED_TO"] = "list"
    let variable = try await box.run("get", "-r", "s3://bucket/p", "out2")
    #expect(variable.status == 77 && commands(variable).isEmpty, "\(variable.errors)")
    #expect(try box.files.read("list") == Array("a\n".utf8))
  }

  @Test(
    "A list for get leaves out what its reader would refuse: an empty name, and one that ends like a line of Windows")
  func unlistable() async throws {
    let box = try BlackBox()
    for key in ["p/", "p/cr\r", "p/x"] { box.fake.putObject(key, bytes: [1]) }
    box.fake.addFault(Fault(.init(.getObject), .error(status: 403, code: "AccessDenied")))
    let get = try await box.run("get", "-r", "s3://bucket/p/", "out", "--failed-to", "list")
    #expect(get.errors.contains("list leaves out 1 name with a line break, or a carriage return"), "\(get.errors)")
    #expect(try box.files.read("list") == Array("x\n".utf8))
    box.fake.setFaults([])
    try await box.run("get", "--files-from", "list", "s3://bucket/p/", "out").expectSuccess()
  }

  @Test("No command is printed for a single key, and none repeats the secret address of a notification")
  func none() async throws {
    let box = try BlackBox()
    try box.sample("a", 3)
    box.fake.addFault(Fault(.init(.putObject), .error(status: 403, code: "AccessDenied")))
    let one = try await box.run("put", "a", "s3://bucket/other", "--failed-to", "failed")
    #expect(one.status == 77 && commands(one).isEmpty, "\(one.errors)")
    #expect(try box.files.read("failed") == Array("a\n".utf8))
    let told = try await box.run(
      "put", "a", "s3://bucket/p/", "--failed-to", "failed", "--notify", box.fake.endpoint + "/in/token")
    #expect(told.status == 77 && !told.errors.contains("in/token"), "\(told.errors)")
    #expect(commands(told) == ["s3up put --files-from failed s3://bucket/p/"], "\(told.errors)")
  }

  @Test("A command that is proposed goes to the store of this run, and shows no secret")
  func sameStore() async throws {
    var box = try BlackBox()
    try box.sample("a", 3)
    box.environment["AWS_ENDPOINT_URL_S3"] = nil
    let reach = ["--endpoint-url", box.fake.endpoint, "--addressing=path", "--region", "us-east-1"]
    let missing = try await box.run(["get", "s3://bucket/none/x", "y", "--part-size=8M"] + reach)
    let typed = "--endpoint-url \(box.fake.endpoint) --addressing path --region us-east-1"
    let line = "s3up ls s3://bucket/none/ \(typed) shows"
    #expect(missing.status == 69 && missing.errors.contains(line), "\(missing.errors)")
    let secret = "http://me:hunter2@127.0.0.1:9"
    let other = try await box.run(["get", "s3://bucket/none/x", "y", "--deadline", "3s", "--proxy", secret] + reach)
    #expect(other.status != 0 && !other.errors.contains("hunter2"), "\(other.errors)")
  }
}
