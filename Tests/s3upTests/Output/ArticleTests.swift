import Foundation
import MultipartBasics
import Support
import Testing

@testable import s3up

/// Compares what the README and the articles say about the program and the package with both.
@Suite(.timeLimit(.minutes(15))) struct ArticleTests {
  private static let reference = Article.named("Reference.md")?.text ?? ""

  @Test("Each page that a page links to exists, and each article is among the links of a page that leads to others")
  func links() throws {
    let leading = ["README.md", "Guide.md", "MultipartCore.md"]
    var shown: Set<String> = []
    var count = 0
    for article in Article.all {
      let folder = article.name == "README.md" ? Article.root : Article.folder
      let pieces = article.text.components(separatedBy: "](").dropFirst()
      for target in pieces.compactMap({ $0.components(separatedBy: ")").first }) where !target.hasPrefix("https://") {
        let file = folder.appending(path: target)
        #expect(FileManager.default.fileExists(atPath: file.path), "\(article.name): \(target)")
        count += 1
        if leading.contains(article.name) { shown.insert(file.lastPathComponent) }
      }
    }
    #expect(count > 80)
    for article in Article.all where article.name != "README.md" {
      #expect(shown.contains(article.name), "\(article.name)")
    }
  }

  @Test("The reference names every command, and every exit code as help does; the README names only those codes")
  func reference() throws {
    for command in CommandName.words {
      let forms = ["`s3up \(command)", "`\(command)`", "`\(command) "]
      #expect(forms.contains { Self.reference.contains($0) }, "\(command)")
    }
    let rows = Self.rows(of: Self.reference)
    for (codes, meaning) in ExitStatus.table {
      #expect(rows.contains { $0.hasPrefix("| \(codes) | \(meaning) |") }, "\(codes)")
    }
    let readme = Self.rows(of: try #require(Article.named("README.md")).text)
    let shown = readme.compactMap { $0.split(separator: "|").first.flatMap { Int32(String($0).trimmed) } }
    #expect(shown == [0, 65, 75, 77])
    for code in shown { #expect(ExitStatus(rawValue: code) != nil) }
  }

  @Test("The permissions that help names for an upload are those of the policy")
  func permissions() throws {
    let policy = try #require(Article.named("Policies.md")?.blocks("json").first)
    let named = { (text: String) in Set(text.matches(of: /s3:[A-Z][A-Za-z]+/).map { String($0.output) }) }
    #expect(named(try #require(HelpWord.answer("403"))) == named(policy))
  }

  @Test("The JSON of the reference has the keys that the program prints")
  func json() async throws {
    let example = try #require(Article.named("Reference.md")?.blocks("json").first)
    let box = try BlackBox()
    try box.sample("backup.tar", 6 * mebi)
    let result = try await box.run("put", "backup.tar", "s3://bucket/backups/", "--part-size", "5M", "--json")
    #expect(try Self.keys(example) == Self.keys(result.output))
  }

  @Test("The lines for a Swift package are those of one that the tests build, and the Debian packages are ours")
  func package() throws {
    let page = try #require(Article.named("MultipartCore.md"))
    func read(_ path: String) throws -> String {
      try String(contentsOf: Article.root.appending(path: path), encoding: .utf8)
    }
    let example = try read("Tests/Acceptance/Example/Package.swift")
      .replacingOccurrences(of: "\"../../..\"", with: "\"../s3up\"")
    let code = page.blocks("swift")
    for block in code.dropFirst() { #expect(example.contains(block), "\(block)") }
    #expect(code.count == 3)
    #expect(try code.first == read("Tests/Acceptance/Example/Sources/FrontPage/main.swift").trimmed)
    let named = try read("Package.swift").components(separatedBy: ".apt([\"").dropFirst()
      .compactMap { $0.components(separatedBy: "\"").first }
    #expect(named.count == 3)
    for name in named { #expect(page.text.contains(" \(name)"), "\(name)") }
  }

  private static func rows(of text: String) -> [String] {
    text.replacingOccurrences(of: "`", with: "").components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
  }

  private static func keys(_ line: String) throws -> [String] {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    return try #require(object).keys.sorted()
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
