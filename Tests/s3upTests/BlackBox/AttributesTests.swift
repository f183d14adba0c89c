import Foundation
@testable import MultipartCore
import Support
import Testing

/// Headers of objects that depend on the names of their files, and the times that are recorded with them.
@Suite(.timeLimit(.minutes(15))) struct AttributesTests {
  private static let site = """
    *.html cache-control=no-cache content-type="text/html; charset=latin1"
    assets/** cache-control="public, max-age=31536000, immutable" tag.kind=asset
    *.gz content-encoding=gzip meta.packed=yes

    """

  private func box(_ attributes: String = site) throws -> BlackBox {
    let box = try BlackBox()
    for name in ["t/index.html", "t/assets/app.js", "t/assets/data.json.gz", "t/readme"] {
      try box.files.write("<p>grüße</p>", to: name)
    }
    try box.files.write(attributes, to: "rules")
    return box
  }

  private func headers(_ box: BlackBox, _ key: String) -> HeaderList { box.fake.object(key)?.headers ?? [:] }

  private func expectSite(_ box: BlackBox, _ prefix: String, where location: SourceLocation = #_sourceLocation) {
    let page = headers(box, prefix + "index.html")
    #expect(page["cache-control"] == "no-cache", sourceLocation: location)
    #expect(page["content-type"] == "text/html; charset=latin1", sourceLocation: location)
    let code = headers(box, prefix + "assets/app.js")
    #expect(code["cache-control"] == "public, max-age=31536000, immutable", sourceLocation: location)
    #expect(code["content-type"] == "text/javascript; charset=utf-8", sourceLocation: location)
    #expect(headers(box, prefix + "assets/app.js")["x-amz-tagging"] == "kind=asset", sourceLocation: location)
    #expect(headers(box, prefix + "assets/data.json.gz")["content-encoding"] == "gzip", sourceLocation: location)
    #expect(box.fake.object(prefix + "assets/data.json.gz")?.metadata == ["packed": "yes"], sourceLocation: location)
    #expect(headers(box, prefix + "readme")["cache-control"] == "private", sourceLocation: location)
  }

  @Test(
    "A folder, a list and a pipe's list get the headers that the lines give, which win over the options",
    arguments: [["--cache-control", "private"], ["--header", "CACHE-Control: private"]])
  func many(option: [String]) async throws {
    let box = try box()
    let options = ["--attributes", "rules"] + option
    try await box.run(["put", "-r", "t", "s3://bucket/r/"] + options).expectSuccess()
    expectSite(box, "r/")
    let names = ["index.html", "assets/app.js", "assets/data.json.gz", "readme"].map { "t/./\($0)\n" }.joined()
    try box.files.write(names, to: "list")
    try await box.run(["put", "--files-from", "list", "s3://bucket/l/"] + options).expectSuccess()
    expectSite(box, "l/")
    try await box.run(["put", "--files-from", "-", "s3://bucket/p/"] + options, input: .bytes(Array(names.utf8)))
      .expectSuccess()
    expectSite(box, "p/")
  }

  @Test("A line of a batch is matched by its key, and its own values win")
  func batch() async throws {
    let box = try box()
    let line = { (file: String, key: String, more: String) in
      #"{"localUri":"t/\#(file)","bucket":"bucket","key":"\#(key)"\#(more)}"# + "\n"
    }
    let own = #","cache-control":"no-store","content-disposition":"inline","tag.kind":"own","tag.é":"2","meta.k":"v""#
    try box.files.write(
      line("index.html", "index.html", "") + line("assets/app.js", "assets/app.js", own)
        + line("assets/data.json.gz", "d.gz", #","metadata":{"only":"1"},"mimeType":"a/b""#), to: "b")
    try await box.run("put", "--batch", "b", "--attributes", "rules", "--metadata", "m=1").expectSuccess()
    #expect(headers(box, "index.html")["cache-control"] == "no-cache")
    #expect(box.fake.object("index.html")?.metadata == ["m": "1"])
    #expect(headers(box, "assets/app.js")["cache-control"] == "no-store")
    #expect(headers(box, "assets/app.js")["content-disposition"] == "inline")
    #expect(headers(box, "assets/app.js")["x-amz-tagging"] == "kind=own&%C3%A9=2")
    #expect(box.fake.object("assets/app.js")?.metadata == ["m": "1", "k": "v"])
    #expect(headers(box, "d.gz")["content-encoding"] == "gzip" && headers(box, "d.gz")["content-type"] == "a/b")
    #expect(box.fake.object("d.gz")?.metadata == ["only": "1"])
  }

  @Test("Values of a line replace those that --header gives under the same names, and no others")
  func furtherHeaders() async throws {
    let box = try box("* tag.team=blue\n")
    try box.files.write(
      #"{"localUri":"t/readme","bucket":"bucket","key":"k","mimeType":"a/b","metadata":{"only":"1"}}"#
        + "\n" + #"{"localUri":"t/index.html","bucket":"bucket","key":"o"}"# + "\n", to: "b")
    try await box.run(
      "put", "--batch", "b", "--attributes", "rules", "--header", "Content-Type: x/y", "--header", "X-Amz-Meta-Old: 0",
      "--header", "x-amz-tagging: team=r%26d&a=b+c", "--header", "Content-Language: de"
    ).expectSuccess()
    let (line, other) = (headers(box, "k"), headers(box, "o"))
    #expect(line["content-type"] == "a/b" && other["content-type"] == "x/y")
    #expect(box.fake.object("k")?.metadata == ["only": "1"] && box.fake.object("o")?.metadata == ["old": "0"])
    for headers in [line, other] {
      #expect(headers["x-amz-tagging"] == "a=b%20c&team=blue" && headers["content-language"] == "de")
    }
  }

  @Test(
    "One file is matched by its name, a stream by that of its object, and requests for parts have none of the headers")
  func one() async throws {
    let box = try box()
    try await box.run("put", "t/index.html", "s3://bucket/x", "--attributes", "rules").expectSuccess()
    #expect(headers(box, "x")["cache-control"] == "no-cache")
    let piped = ["put", "-", "s3://bucket/d/a.gz", "--attributes", "rules"]
    try await box.run(piped, input: .bytes(Array("z".utf8))).expectSuccess()
    #expect(headers(box, "d/a.gz")["content-encoding"] == "gzip")
    try box.sample("big.gz", 11 * mebi)
    try await box.run("put", "big.gz", "s3://bucket/big", "--attributes", "rules", "--part-size", "5M").expectSuccess()
    #expect(headers(box, "big")["content-encoding"] == "gzip")
    let none = try await box.run("put", "t/readme", "s3://bucket/n", "--attributes", "rules")
    #expect(none.status == 0 && none.errors == "s3up: no line of rules matches the file\n", "\(none.errors)")
  }

  @Test("Lines that match nothing are reported at the end, but not for a share, and not with -q")
  func unmatched() async throws {
    let box = try box(Self.site + "*.none expires=x\n")
    let put = ["put", "-r", "t", "s3://bucket/p/", "--attributes", "rules"]
    let result = try await box.run(put)
    #expect(result.status == 0 && result.errors == "s3up: rules, line 4: *.none matches no file\n", "\(result.errors)")
    try await box.run(put + ["-q"]).expectSuccess()
    try await box.run(put + ["--shard", "1/2"]).expectSuccess()
  }

  @Test("A line without a meaning ends the run before a request, with the file and the line")
  func mistake() async throws {
    let box = try box("* cache-control=x\n* cash=1\n")
    let put = ["s3://bucket/p/", "--attributes", "rules"]
    for source in [["-r", "t"], ["t/readme"]] {
      try await box.run(["put"] + source + put).expectFailure(64, "line 2 of the file of attributes", "cash", "rules")
    }
    try await box.run("put", "t/readme", "s3://bucket/p/", "--attributes", "missing").expectFailure(66, "missing")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("A line's values are part of the object: a run that is repeated sends again only what they change")
  func record() async throws {
    let box = try box()
    try box.files.write("t/index.html\nt/readme\nmissing\n", to: "l")
    let put = ["put", "--files-from", "l", "s3://bucket/p/", "--attributes", "rules"]
    for (rules, pages) in [("*.html expires=a", 1), ("*.html expires=a", 1), ("*.html expires=b", 2)] {
      try box.files.write(rules, to: "rules")
      #expect(try await box.run(put).status == 66)
      let sent = box.fake.requests(.putObject).map(\.key)
      #expect(sent.count { $0 == "p/t/index.html" } == pages && sent.count { $0 == "p/t/readme" } == 1)
    }
    #expect(headers(box, "p/t/index.html")["expires"] == "b")
  }

  @Test("--mtime records the time as rclone writes it, for one file, for many and in parts; the caller's value wins")
  func times() async throws {
    let box = try box()
    try box.sample("t/big", 11 * mebi)
    for (name, time) in [("index.html", "1700000000.5"), ("readme", "-1.25"), ("big", "1700000000.123456789")] {
      #expect(try await box.shell("touch -d @\(time) \"$1\"", "t/\(name)").status == 0)
    }
    try await box.run("put", "-r", "t", "s3://bucket/p/", "--mtime", "--part-size", "5M").expectSuccess()
    #expect(box.fake.object("p/index.html")?.metadata == ["mtime": "1700000000.5"])
    #expect(box.fake.object("p/readme")?.metadata == ["mtime": "-1.25"])
    #expect(box.fake.object("p/big")?.metadata == ["mtime": "1700000000.123456789"])
    try await box.run("put", "t/readme", "s3://bucket/own", "--mtime", "--metadata", "MTime=1").expectSuccess()
    #expect(box.fake.object("own")?.metadata == ["mtime": "1"])
    try await box.run(["put", "-", "s3://bucket/stream", "--mtime"], input: .bytes([1])).expectSuccess()
    #expect(box.fake.object("stream")?.metadata == [:])
  }
}
