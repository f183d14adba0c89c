import Foundation
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct GlobTests {
  private func git(_ words: [String], in tree: Tree, input: String = "") async throws -> ChildProcess.Result {
    let settings = ["GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"]
    return try await ChildProcess(
      Programs.find("git"), words,
      environment: Programs.environment(home: "/nonexistent").merging(settings) { $1 },
      directory: tree.directory.path, input: .bytes(Array(input.utf8))
    ).wait()
  }

  /// The paths and folders among these that git ignores with a `.gitignore` of these lines.
  private func ignored(_ lines: [String], _ paths: [String], in tree: Tree) async throws -> Set<String> {
    let names = paths.flatMap { path in path.indices.filter { path[$0] == "/" }.map { String(path[..<$0]) } + [path] }
    try tree.directory.write(lines.map { $0 + "\n" }.joined(), to: ".gitignore")
    let words = ["-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"]
    let answer = try await git(words, in: tree, input: Set(names).sorted().map { $0 + "\0" }.joined())
    // Exit code 1 means that none is ignored.
    try #require(answer.status == 0 || answer.status == 1, "\(answer.errors)")
    return Set(answer.output.split(separator: "\0").map(String.init))
  }

  /// The paths that the rules exclude, with `!` as an include.
  private func excluded(_ lines: [String], _ paths: [String]) throws -> Set<String> {
    let rules = try GlobRules(
      lines.map { $0.hasPrefix("!") ? .include(String($0.dropFirst())) : .exclude($0) })
    var excluded: Set<String> = []
    for path in paths {
      for end in path.indices.filter({ path[$0] == "/" }) + [path.endIndex]
      where !rules.includes(Array(path[..<end].utf8), isFolder: end < path.endIndex) {
        excluded.insert(String(path[..<end]))
      }
    }
    return excluded
  }

  private func pattern(_ random: inout SeededRandom) -> String {
    let pieces = [
      "a", "b", "ab", "c", "/", "/", "*", "*", "**", "**/", "/**", "/**/", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]",
      "[a",
      "[[:alpha:]]", "[[:digit:]x]", "[a-]", "[\\]b]", "\\a", "\\*", "\\", "\\/", ".", "[/]", "***", "[b-", "[[:no:]]",
      "[:a]",
      " ", "\\ ", "-", "]", "[a-\\c]", "[[:upper:]-]", "#",
    ]
    let count = Int.random(in: 1...5, using: &random)
    return (0..<count).map { _ in pieces.randomElement(using: &random) ?? "a" }.joined()
  }

  @Test("Random patterns on random trees exclude what git ignores", arguments: 1...25)
  func asGit(seed: Int) async throws {
    var random = SeededRandom(seed: UInt64(seed))
    let parts = ["a", "b", "ab", "abc", "c", "*", "x.a", "-", "]", "a b", "a ", "\\", "1", "B", "[a", "bb"]
    var paths: Set<String> = []
    for _ in 0..<60 {
      let depth = Int.random(in: 1...4, using: &random)
      let path = (0..<depth).map { _ in parts.randomElement(using: &random) ?? "a" }.joined(separator: "/")
      // A new path is not below a file, and not a file with the name of a folder.
      let isNew = paths.allSatisfy { !($0 + "/").hasPrefix(path + "/") && !(path + "/").hasPrefix($0 + "/") }
      if isNew { paths.insert(path) }
    }
    let sorted = paths.sorted()
    let tree = try Tree(sorted)
    try #require(try await git(["init", "-q"], in: tree).status == 0)
    for _ in 0..<20 {
      var lines: [String] = []
      while lines.count < Int.random(in: 1...4, using: &random) {
        let line = pattern(&random)
        // A comment and an empty line are not patterns; an include as the first rule changes the default.
        guard !line.hasPrefix("#"), !line.allSatisfy({ $0 == " " }) else { continue }
        let isInclude = !lines.isEmpty && Int.random(in: 0..<3, using: &random) == 0
        lines.append(isInclude ? "!" + line : line)
      }
      let (wanted, got) = (try await ignored(lines, sorted, in: tree), try excluded(lines, sorted))
      #expect(got == wanted, "\(lines): \(got.symmetricDifference(wanted).sorted())")
    }
  }

  @Test(
    "The examples in gitignore's manual",
    arguments: [
      ("hello.*", "hello.txt", true), ("hello.*", "a/hello.java", true), ("/hello.*", "a/hello.java", false),
      ("foo/", "foo/x", true), ("foo/", "foo", false), ("doc/frotz", "a/doc/frotz", false),
      ("/doc/frotz", "doc/frotz", true),
      ("foo/*", "foo/test.json", true), ("foo/*", "foo/bar/hello.c", true), ("**/foo", "a/b/foo", true),
      ("**/foo/bar", "a/foo/bar", true), ("abc/**", "abc/d/e", true), ("abc/**", "abc", false), ("a/**/b", "a/b", true),
      ("a/**/b", "a/x/y/b", true), ("[!a]", "a", false), ("[!a]", "b", true), ("a\\ ", "a ", true), ("a ", "a", true),
      ("\\!a", "!a", true), ("\\#a", "#a", true), ("*", "a/b/c", true), ("a?c", "a/c", false),
      ("x/a*c", "x/a/c", false),
    ])
  func manual(_ pattern: String, _ path: String, _ isExcluded: Bool) throws {
    #expect(try GlobRules([.exclude(pattern)]).includes(Array(path.utf8)) == !isExcluded)
  }

  @Test("If the first rule is an include, only what is included is sent, in any folder")
  func includesFirst() throws {
    let tree = try Tree(["a.jpg", "b.txt", "sub/c.jpg", "sub/deep/d.jpg", "sub/deep/e.txt", "whole/f.txt", "no/g.jpg"])
    func told(_ patterns: [GlobRules.Rule], tells: Bool = false) throws -> [String] {
      let rules = try GlobRules(patterns)
      let told = try TreeWalk(root: tree.root, rules: rules, tellsExcluded: tells).tell()
      for path in told where !path.contains(":") { #expect(rules.includes(Array(path.utf8))) }
      return told
    }
    #expect(try told([.include("*.jpg")]) == ["a.jpg", "no/g.jpg", "sub/c.jpg", "sub/deep/d.jpg"])
    #expect(
      try told([.include("*.jpg"), .include("whole/"), .exclude("no/")])
        == ["a.jpg", "sub/c.jpg", "sub/deep/d.jpg", "whole/f.txt"])
    #expect(
      try told([.exclude("sub/*"), .include("deep/")]).filter { $0.hasPrefix("sub") } == [
        "sub/deep/d.jpg", "sub/deep/e.txt",
      ])
    #expect(
      try told([.exclude("*.txt"), .exclude("sub/")], tells: true)
        == ["a.jpg", "b.txt: excluded", "no/g.jpg", "sub: excluded", "whole/f.txt: excluded"])
  }

  @Test("A pattern with many stars takes no exponential time")
  func stars() throws {
    let rules = try GlobRules([
      .exclude(String(repeating: "*a", count: 60) + "b"), .exclude(String(repeating: "**/a*", count: 30) + "/b"),
    ])
    #expect(rules.includes(Array(String(repeating: "a", count: 250).utf8)))
    #expect(rules.includes(Array(String(repeating: "aa/", count: 200).utf8) + Array("a".utf8)))
  }

  @Test("An empty pattern, and one in git's form of an include, are refused", arguments: ["", " ", "!a"])
  func refused(_ pattern: String) {
    let failure = #expect(throws: Failure.self) { try GlobRules([.exclude(pattern)]) }
    #expect(failure?.code == .usage)
  }
}
