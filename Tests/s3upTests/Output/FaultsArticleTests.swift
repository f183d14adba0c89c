import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct FaultsArticleTests {
  private static func sources() throws -> String {
    let tests = Article.root.appending(path: "Tests")
    let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
    var text = ""
    while let file = files?.nextObject() as? URL {
      if file.pathExtension == "swift" { text += try String(contentsOf: file, encoding: .utf8) }
    }
    return text
  }

  /// By bytes: Foundation's search by characters takes 15 s of CPU time for these names.
  private static func contains(_ text: String, _ name: String) -> Bool { strstr(text, name) != nil }

  @Test("Each row of the article on faults names a test, and each test that is named exists")
  func rows() throws {
    let article = try #require(Article.named("Faults.md")).text
    let sources = try Self.sources()
    let rows = article.split(separator: "\n").filter {
      $0.hasPrefix("| ") && !$0.hasPrefix("| fault") && !$0.hasPrefix("| ---")
    }
    #expect(rows.count > 40)
    for row in rows {
      let cell = row.split(separator: "|").dropLast(row.hasSuffix("|") ? 0 : 1).last.map(String.init) ?? ""
      let named = cell.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter {
        $0.offset % 2 == 1
      }
      .map { String($0.element) }
      for name in named { #expect(Self.contains(sources, "\"\(name)\""), "no test is called: \(name)") }
      #expect(!named.isEmpty || cell.contains("`"), "no test is named: \(row)")
    }
  }

  @Test("Each file and each suite of tests that the article on contributing names exists")
  func files() throws {
    let article = try #require(Article.named("Contributing.md")).text
    let sources = try Self.sources()
    let words = article.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter {
      $0.offset % 2 == 1
    }
    .map { String($0.element) }
    let files = words.filter { $0.hasPrefix("Sources/") || $0.hasPrefix("Tests/") }
    #expect(files.count > 25)
    for file in files {
      #expect(FileManager.default.fileExists(atPath: Article.root.appending(path: file).path), "\(file)")
    }
    let suites = words.filter { $0.hasSuffix("Tests") && !$0.contains("/") }
    #expect(suites.count > 4)
    for suite in suites { #expect(Self.contains(sources, "struct \(suite) "), "no suite is called \(suite)") }
  }

  @Test("Each invariant of the architecture names the tests that check it, and they exist")
  func invariants() throws {
    let article = try #require(Article.named("Architecture.md")).text
    let sources = try Self.sources()
    let section = try #require(article.split(separator: "\n## ").first { $0.hasPrefix("Invariants") })
    let invariants = section.split(separator: ". **").dropFirst()
    #expect(invariants.count == 11)
    for invariant in invariants {
      let held = try #require(invariant.split(separator: "Held by ").dropFirst().first, "\(invariant)")
      let suites = held.prefix { $0 != "." }.split(separator: "`").filter { !$0.hasPrefix(",") }
      #expect(!suites.isEmpty)
      for suite in suites { #expect(Self.contains(sources, "struct \(suite) "), "no suite is called \(suite)") }
    }
  }
}
