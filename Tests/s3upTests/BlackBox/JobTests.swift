import Foundation
import Support
import Testing

/// What a run in a CI job writes for its log and its runner.
@Suite(.timeLimit(.minutes(15))) struct JobTests {
  private func box(_ variables: [String: String]) throws -> BlackBox {
    var box = try BlackBox { $0.versioning = true }
    box.environment.merge(variables) { $1 }
    for name in ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"] { box.environment[name] = box.files.path(name) }
    return box
  }

  private func text(_ box: BlackBox, _ name: String) -> String {
    (try? String(contentsOfFile: box.files.path(name), encoding: .utf8)) ?? ""
  }

  private static let runners = [
    "CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "JENKINS_URL", "TEAMCITY_VERSION", "TF_BUILD",
  ]

  @Test("A CI job's log has a line at once, other logs have none, and -q or another choice suppresses it")
  func begins() async throws {
    let plain = try BlackBox()
    try plain.sample("f", 3000)
    let put = ["put", "f", "s3://bucket/k"]
    try await plain.run(put).expectSuccess()
    for name in Self.runners {
      var box = plain
      box.environment[name] = "true"
      let told = try await box.run(put)
      #expect(told.status == 0, "\(name)")
      #expect(told.errors == "f: 0%, 0 B of 2.9 KiB, starting, parts 0/1\n", "\(name)")
      for words in [["-q"], ["--progress", "none"]] { try await box.run(put + words).expectSuccess() }
      box.environment[name] = "false"
      try await box.run(put).expectSuccess()
    }
  }

  @Test("GitHub marks a failure at its file, whatever its name is")
  func marks() async throws {
    let box = try box(["GITHUB_ACTIONS": "true"])
    let result = try await box.run("put", "a:b,c%d", "s3://bucket/k")
    #expect(result.status == 66)
    let marks = result.errors.split(separator: "\n").filter { $0.hasPrefix("::") }
    #expect(marks.count == 1, "\(result.errors)")
    #expect(marks.first?.hasPrefix("::error file=a%3Ab%2Cc%25d,title=s3up::the source ") == true, "\(result.errors)")
    #expect(marks.first?.contains("%0A") == true, "\(result.errors)")
    #expect(result.errors.contains("\ns3up: "), "\(result.errors)")
  }

  @Test("GitHub gets one object's facts as outputs of the step, and a table, which no name can break out of")
  func outputs() async throws {
    let box = try box(["GITHUB_ACTIONS": "true"])
    let name = "a|b`<i>*_[x](y)&#"
    try box.sample(name, 3000)
    try box.files.write("before\n", to: "GITHUB_OUTPUT")
    let key = "k\ns3up-0\nurl=x"
    let result = try await box.run("put", name, "s3://bucket/\(key)", "--json")
    #expect(result.status == 0, "\(result.errors)")
    let (json, lines) = (result.json, text(box, "GITHUB_OUTPUT").components(separatedBy: "\n"))
    #expect(lines.first == "before")
    let written = try Self.outputs(Array(lines.dropFirst().dropLast()))
    #expect(written["etag"] == json["etag"] as? String && written["key"] == key)
    #expect(written["version-id"] == json["version_id"] as? String && written["url"] == "s3://bucket/\(key)")
    #expect(written.count == (json["version_id"] is NSNull ? 3 : 4))
    let table = text(box, "GITHUB_STEP_SUMMARY")
    let row = try #require(table.split(separator: "\n").last)
    #expect(row.filter { $0 == "|" }.count == 5 && !row.contains("<") && !row.contains("[") && !row.contains("`"))
    #expect(row.contains("&#124;") && row.contains("2&#46;9 KiB") && table.hasPrefix("### s3up\n"), "\(table)")
  }

  /// Parses the outputs as GitHub's runner does: `NAME<<END`, lines, `END`.
  private static func outputs(_ lines: [String]) throws -> [String: String] {
    var (values, rest) = ([String: String](), lines[...])
    while let head = rest.popFirst() {
      let words = head.components(separatedBy: "<<")
      try #require(words.count == 2 && values[words[0]] == nil, "\(lines)")
      let value = rest.prefix { $0 != words[1] }
      rest = rest.dropFirst(value.count + 1)
      values[words[0]] = value.joined(separator: "\n")
    }
    return values
  }

  @Test("For many files the lines are folded, and the table has two hundred of them and the total number")
  func many() async throws {
    let box = try box(["GITHUB_ACTIONS": "true"])
    for number in 1...203 { try box.files.write("\(number)", to: "t/f\(number)") }
    let result = try await box.run("put", "-r", "t", "s3://bucket/p/")
    #expect(result.status == 0 && result.lines.count == 204)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.first == "::group::s3up put" && lines.last == "::endgroup::", "\(result.errors)")
    let table = text(box, "GITHUB_STEP_SUMMARY")
    #expect(table.contains("203 objects, ") && table.contains("\nand 3 more\n"))
    #expect(table.components(separatedBy: "\n| ").count == 203)
    #expect(text(box, "GITHUB_OUTPUT") == "")
    try await box.run("put", "-q", "-r", "t", "s3://bucket/p/").expectSuccess()
  }

  @Test("Ten failures are marked; GitLab folds with its own marks, and marks no failure")
  func bounds() async throws {
    let names = (1...15).map { "missing\($0)" }
    for (variable, count) in [("GITHUB_ACTIONS", 10), ("GITLAB_CI", 0)] {
      let box = try box([variable: "true"])
      try box.sample("good", 10)
      try box.files.write((["good"] + names).joined(separator: "\n"), to: "list")
      let result = try await box.run("put", "--files-from", "list", "s3://bucket/p/")
      #expect(result.status == 66)
      #expect(result.errors.components(separatedBy: "::error ").count - 1 == count, "\(result.errors)")
      guard variable == "GITLAB_CI" else { continue }
      let begin = "\u{1b}[0Ksection_start:"
      #expect(result.errors.hasPrefix(begin) && result.errors.contains(":s3up\r\u{1b}[0K\n"), "\(result.errors)")
      #expect(text(box, "GITHUB_STEP_SUMMARY") == "")
    }
  }

  @Test("A runner's file that cannot be written costs a line, and never the run")
  func unwritable() async throws {
    var box = try box(["GITHUB_ACTIONS": "true"])
    box.environment["GITHUB_OUTPUT"] = "/dev/full"
    try box.sample("f", 10)
    let result = try await box.run("put", "f", "s3://bucket/k")
    #expect(result.status == 0 && result.errors.contains("s3up: /dev/full cannot be written: "), "\(result.errors)")
  }

  @Test(
    "The file of --dotenv is never the source, nor one with other contents, and is tried before anything is sent")
  func dotenvOfAnother() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 10)
    try box.files.write("three lines\nof a\nletter\n", to: "letter")
    try box.files.write("S3_KEY=a b\nDB_PASSWORD=x\n", to: "settings")
    let others = [
      ("f", "the source is also the file of --dotenv"), ("letter", "has other contents"),
      ("settings", "has other contents"),
    ]
    for (file, word) in others {
      let result = try await box.run("put", "f", "s3://bucket/k", "--dotenv", file)
      result.expectFailure(64, word)
    }
    try await box.run("put", "f", "s3://bucket/k", "--dotenv", "nowhere/env").expectFailure(64, "nowhere/env")
    #expect(box.fake.requests.isEmpty)
    #expect(try box.files.read("f") == bytes && text(box, "letter") == "three lines\nof a\nletter\n")
  }

  @Test("--dotenv writes the variables of one object anew, in any environment, and no value of two lines")
  func dotenv() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    try box.files.write("S3_ETAG=older\nS3_VERSION_ID=1\n", to: "env")
    let result = try await box.run("put", "f", "s3://bucket/a b", "--dotenv", "env", "--json")
    let etag = try #require(result.json["etag"] as? String)
    #expect(text(box, "env") == "S3_ETAG=\(etag)\nS3_URL=s3://bucket/a b\nS3_KEY=a b\n")
    try await box.run("put", "f", "s3://bucket/a\nS3_KEY=x", "--dotenv", "env").expectSuccess()
    #expect(text(box, "env") == "S3_ETAG=\(etag)\n")
    let full = try await box.run("put", "f", "s3://bucket/k", "--dotenv", "/dev/full")
    #expect(full.status == 74 && full.errors.contains("/dev/full") && full.errors.contains("itself succeeded"))
    try await box.run("put", "f", "s3://bucket/k", "--dotenv", "env", "--if-none-match").expectFailure(73)
    #expect(!FileManager.default.fileExists(atPath: box.files.path("env")), "the values of an earlier run are left")
  }
}
