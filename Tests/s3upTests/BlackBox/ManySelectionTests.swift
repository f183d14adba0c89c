import Foundation
@testable import MultipartCore
import Support
import Testing

/// Which files a run of many sends, and what it reports if that is probably not what was meant.
@Suite(.timeLimit(.minutes(15))) struct ManySelectionTests {
  @Test("A dry run refuses what the run would refuse: a missing file, and a condition that does not hold")
  func dryRefusals() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    box.fake.putObject("k", bytes: [1])
    for (words, status, why) in [
      (["none", "s3://bucket/l"], 66, "No such file"), (["f", "s3://bucket/l", "--min-size", "1M"], 65, "10"),
      (["f", "s3://bucket/k", "--if-none-match"], 73, "already exists"), (["f", "s3://bucket/l"], 0, ""),
    ] as [([String], Int32, String)] {
      let result = try await box.run(["put", "--dry-run"] + words)
      #expect(result.status == status && (why.isEmpty || result.errors.contains(why)), "\(result.errors)")
    }
    #expect(box.fake.requests.allSatisfy { $0.method == "HEAD" })
  }

  @Test("What is skipped is an event of --json, as every other end of a file is")
  func skippedEvents() async throws {
    let box = try BlackBox()
    try box.sample("t/f", 10)
    #expect(symlink("f", box.files.path("t/link")) == 0)
    let result = try await box.run("put", "-r", "t", "s3://bucket/p/", "--json")
    #expect(result.status == 0)
    #expect(
      result.lines.count { $0.hasPrefix(#"{"event":"skipped","source":"t/link","message":"#) } == 1, "\(result.output)")
  }

  @Test("Two files of a list with one key are refused, even after a file that is named twice")
  func meetingAfterARepeat() async throws {
    let box = try BlackBox()
    for name in ["a", "x/k", "y/k"] { try box.files.write(name, to: name) }
    for list in ["a\na\nx/./k\ny/./k\n", "x/./k\nx/./k\ny/./k\n"] {
      try box.files.write(list, to: "list")
      try await box.run("put", "--files-from", "list", "s3://bucket/p/").expectFailure(64, "have the same key")
      #expect(box.fake.objectCount == 0)
    }
    try box.files.write("a\na\nx/./k\n", to: "list")
    try await box.run("put", "--files-from", "list", "s3://bucket/p/").expectSuccess()
    #expect(box.fake.objectCount == 2)
  }

  @Test("A second line of a batch about a key is not sent, from a file and from a pipe, whatever it requests")
  func batchLinesMeet() async throws {
    let box = try BlackBox()
    try box.files.write("a", to: "a")
    let line = { (type: String) in #"{"localUri":"a","bucket":"bucket","key":"k","mimeType":"\#(type)"}"# + "\n" }
    try box.files.write(line("text/plain") + line("image/png"), to: "batch")
    try await box.run("put", "--batch", "batch").expectFailure(64, "have the same key")
    #expect(box.fake.objectCount == 0)
    let piped = try await box.run(["put", "--batch", "-"], input: .file(box.files.path("batch")))
    #expect(piped.status == 64, "\(piped.errors)")
    #expect(piped.errors.contains("same key as an earlier file"))
    #expect(box.fake.object("k")?.headers["Content-Type"] == "text/plain")
    #expect(box.fake.requests(.putObject).count == 1)
  }

  private func box() throws -> BlackBox {
    let box = try BlackBox()
    for name in ["t/lib/a.js", "t/lib/b.css", "t/lib/deep/c.js", "t/lib/deep/d.txt"] { try box.sample(name, 3) }
    return box
  }

  @Test("AWS's filter idiom, which selects nothing, is 66, and the message has the line that does what was meant")
  func idiom() async throws {
    let box = try box()
    let put = ["put", "-r", "t", "s3://bucket/p/", "--exclude", "*", "--include", "*.js"]
    for more in [[], ["--dry-run", "-q"]] {
      let result = try await box.run(put + more)
      #expect(result.status == 66, "\(result.errors)")
      #expect(result.errors.contains("the rules leave nothing to send"), "\(result.errors)")
      #expect(result.errors.contains("--include '*.js' matches nothing in lib/"), "\(result.errors)")
      #expect(result.errors.contains("hat you probably want is: --include '*.js'\n"), "\(result.errors)")
    }
    #expect(box.fake.requests.isEmpty)
    let allowed = try await box.run(put + ["--allow-empty"])
    #expect(allowed.status == 0 && allowed.lines.last?.hasPrefix("0 files uploaded") == true, "\(allowed.errors)")
    try await box.run("put", "-r", "t", "s3://bucket/p/", "--include", "*.js").expectSuccess()
    #expect(box.fake.object("p/lib/a.js") != nil && box.fake.object("p/lib/deep/c.js") != nil)
    #expect(box.fake.objectCount == 2)
    // Something is sent, but not the contents of the folders.
    try box.sample("t/top.js", 3)
    let partly = try await box.run(put)
    #expect(partly.status == 0 && partly.lines.last?.hasPrefix("1 file uploaded") == true, "\(partly.output)")
    #expect(partly.errors.contains("what you probably want is: --include '*.js'"), "\(partly.errors)")
  }

  @Test("An include that matches nothing is 66", arguments: [["-r", "t"], ["t/lib/a.js", "t/lib/deep/c.js"]])
  func noMatch(_ sources: [String]) async throws {
    let box = try box()
    let put = ["put"] + sources + ["s3://bucket/p/", "--include", "*.none"]
    try await box.run(put).expectFailure(66, "the rules leave nothing to send")
    try await box.run(put + ["--allow-empty"]).expectSuccess()
    #expect(box.fake.requests.isEmpty)
  }

  @Test("A list on a descriptor is read once, to its end", arguments: ["/dev/stdin", "/dev/fd/0", "-"])
  func descriptor(_ name: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 1)
    // Lines of 64 bytes: a reader that begins in the middle, at a multiple of its buffer, would not notice it.
    let lines = (0..<2048).map { number in
      let line = #"{"localUri":"f","bucket":"bucket","key":"k\#(number)"}"#
      return line + String(repeating: " ", count: 63 - line.utf8.count) + "\n"
    }
    try box.files.write(lines.joined(), to: "batch")
    let list = ["put", "--batch", name, "--dry-run"]
    let result = try await box.run(list, input: .file(box.files.path("batch")))
    #expect(result.status == 0 && result.output.contains("2048 files"), "\(result.output.suffix(300)) \(result.errors)")
  }

  @Test("A dry run names what a rule excludes, of a folder, of a list and of a batch")
  func excludedInDryRun() async throws {
    let box = try BlackBox()
    for name in ["d/a", "d/b.tmp"] { try box.sample(name, 1) }
    try box.files.write("d/a\nd/b.tmp\n", to: "list")
    let line = { (name: String) in #"{"localUri":"\#(name)","bucket":"bucket","key":"\#(name)"}"# + "\n" }
    try box.files.write(line("d/a") + line("d/b.tmp"), to: "batch")
    let forms = [
      ["-r", "d", "s3://bucket/p/"], ["--files-from", "list", "s3://bucket/p/"], ["--batch", "batch"],
      ["d/a", "d/b.tmp", "s3://bucket/p/"],
    ]
    for form in forms {
      let result = try await box.run(["put"] + form + ["--exclude", "*.tmp", "--dry-run"])
      #expect(result.status == 0 && result.errors.contains("d/b.tmp: excluded"), "\(form) \(result.errors)")
    }
    #expect(box.fake.requests.isEmpty)
  }

  @Test("A name that is too long for a key fails alone, from a list as from a folder")
  func longName() async throws {
    let box = try BlackBox()
    try box.sample("a", 1)
    let folder = Array(repeating: String(repeating: "x", count: 200), count: 6).joined(separator: "/")
    try box.sample("d/" + folder + "/b", 1)
    try box.sample("d/a", 1)
    try box.files.write("a\nd/" + folder + "/b\n", to: "list")
    for form in [["--files-from", "list"], ["-r", "d"]] {
      let result = try await box.run(["put"] + form + ["s3://bucket/p/"])
      #expect(result.status == 64, "\(result.errors)")
      #expect(result.errors.contains("1,024") && box.fake.object("p/a") != nil, "\(result.errors)")
      box.fake.removeObject("p/a")
    }
  }

  @Test("An include below an excluded folder is reported, with rules that reach it", arguments: [true, false])
  func below(_ excludesFirst: Bool) async throws {
    let box = try box()
    let exclude = ["--exclude", "lib"]
    let include = ["--include", "*", "--include", "lib/deep/c.js"]
    let rules = excludesFirst ? exclude + include.suffix(2) : include + exclude
    try box.sample("t/other", 1)
    let result = try await box.run(["put", "-r", "t", "s3://bucket/p/"] + rules)
    #expect(result.status == 0)
    #expect(result.errors.contains("--include lib/deep/c.js matches nothing in lib/"), "\(result.errors)")
    let told = try #require(result.errors.components(separatedBy: "what you probably want is: ").last)
    let words = try await box.shell("printf '%s\\n' " + told.trimmingCharacters(in: .newlines))
    try await box.run(["put", "-r", "t", "s3://bucket/q/"] + words.lines).expectSuccess()
    #expect(box.fake.object("q/lib/deep/c.js") != nil && box.fake.object("q/lib/a.js") == nil, "\(told)")
  }

  @Test(
    "A glob that repeats the path of the folder matches nothing, and the message has the one that does",
    arguments: ["t", "./t/", "."], ["--exclude", "--include"])
  func repeated(_ folder: String, _ option: String) async throws {
    let box = try box()
    let glob = folder == "." ? "./t/lib/a.js" : "t/lib/a.js"
    let rules = [option, glob] + (option == "--include" ? ["--include", "c.js"] : [])
    let result = try await box.run(["put", "-r", folder, "s3://bucket/p/"] + rules)
    #expect(result.status == 0)
    #expect(result.errors.contains("\(option) \(glob) matches nothing: a glob is relative to"), "\(result.errors)")
    let meant = folder == "." ? "/t/lib/a.js" : "/lib/a.js"
    #expect(result.errors.contains("what you probably want is: \(option) \(meant)\n"), "\(result.errors)")
    try await box.run(["put", "-r", folder, "s3://bucket/q/", option, meant]).expectSuccess()
    #expect((box.fake.object("q" + meant) == nil) == (option == "--exclude"))
  }

  @Test(
    "Rules that work as they are cause no message",
    arguments: [
      ["--exclude", "*", "--include", "*/", "--include", "*.js"], ["--exclude", "/*", "--include", "/lib"],
      ["--exclude", "deep", "--include", "*.js"], ["--include", "*.js", "--exclude", "deep/"],
      ["--exclude", "*/", "--include", "*.js", "--allow-empty"],
    ])
  func quiet(_ rules: [String]) async throws {
    let box = try box()
    try await box.run(["put", "-r", "t", "s3://bucket/p/"] + rules).expectSuccess()
  }

  @Test("An empty list and an empty batch are 66, unless that is allowed; an empty folder and an empty share are not")
  func nothing() async throws {
    let box = try box()
    try box.files.write("", to: "empty")
    for words in [
      ["--files-from", "empty", "s3://bucket/p/"], ["--batch", "empty"], ["--files-from", "-", "s3://bucket/p/"],
    ] {
      let result = try await box.run(["put"] + words, input: .bytes([]))
      result.expectFailure(66, "the list names no file", "--allow-empty")
      try await box.run(["put", "--allow-empty"] + words, input: .bytes([])).expectSuccess()
    }
    try FileManager.default.createDirectory(atPath: box.files.path("void"), withIntermediateDirectories: true)
    let void = try await box.run("put", "-r", "void", "s3://bucket/p/")
    #expect(void.status == 0 && void.errors.contains("an empty folder"), "\(void.errors)")
    try box.files.write("t/lib/a.js\n", to: "one")
    for share in 1...2 {
      try await box.run("put", "--files-from", "one", "s3://bucket/p", "--shard", "\(share)/2").expectSuccess()
      try await box.run(
        "put", "-r", "t", "s3://bucket/s", "--include", "a.js", "--shard", "\(share)/2"
      ).expectSuccess()
    }
    #expect(box.fake.objectCount == 2)
    let rules = try await box.run("put", "--files-from", "one", "s3://bucket/p", "--exclude", "*.js")
    rules.expectFailure(66, "the rules leave nothing to send", "--allow-empty")
  }

  @Test("A followed link that leads nowhere is a missing source, and the others arrive")
  func dangling() async throws {
    let box = try box()
    #expect(symlink("nothing", box.files.path("t/gone")) == 0)
    #expect(symlink("self", box.files.path("t/self")) == 0)
    let result = try await box.run("put", "-r", "t", "s3://bucket/p/", "--follow-symlinks", "--failed-to", "failed")
    #expect(result.status == 66 && result.errors.contains("the symbolic link leads nowhere"), "\(result.errors)")
    #expect(result.lines.last?.hasPrefix("4 files uploaded, 2 failed") == true, "\(result.output)")
    let skipped = try await box.run("put", "-r", "t", "s3://bucket/p/")
    #expect(skipped.status == 0 && skipped.errors.contains("t/gone: a symbolic link"), "\(skipped.errors)")
  }

  @Test("Names from a pipe that only Unicode considers equal are different keys")
  func twins() async throws {
    let box = try BlackBox()
    let names = ["\u{e9}", "e\u{301}"]
    for (number, name) in names.enumerated() { try box.sample(name, number + 1) }
    let list = Array(names.joined(separator: "\n").utf8)
    try await box.run("put", "--files-from", "-", "s3://bucket/p/", input: .bytes(list)).expectSuccess()
    #expect(box.fake.object("p/\u{e9}")?.size == 1 && box.fake.object("p/e\u{301}")?.size == 2)
    let batch = names.map { #"{"localUri":"\#($0)","bucket":"bucket","key":"b/\#($0)","metadata":{"a":"b"}}"# + "\n" }
    try await box.run("put", "--batch", "-", input: .bytes(Array(batch.joined().utf8))).expectSuccess()
    #expect(box.fake.object("b/\u{e9}")?.size == 1 && box.fake.object("b/e\u{301}")?.size == 2)
  }

  @Test(
    "A folder without -r is reported as a folder, even with a bucket alone and a slash at its end",
    arguments: ["t", "t/"])
  func folder(_ name: String) async throws {
    let box = try box()
    for target in ["s3://bucket/", "s3://bucket", "s3://bucket/k"] {
      try await box.run("put", name, target).expectFailure(64, "is a directory", "put -r \(name)")
    }
    #expect(box.fake.requests.isEmpty)
  }

  @Test("If a tree is deeper than the limit on open files allows, the failure names that limit")
  func deep() async throws {
    let box = try BlackBox()
    try box.sample("t/" + String(repeating: "d/", count: 200) + "f", 1)
    let result = try await box.shell("ulimit -n 128; exec \"$S3UP\" put -r t s3://bucket/p/")
    #expect(result.status == 75 && result.errors.contains("ulimit -n"), "\(result.errors)")
    #expect(!result.errors.contains("memory and disk"), "\(result.errors)")
  }
}
