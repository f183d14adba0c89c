import Foundation
import Testing

@testable import s3up

/// The library serves any program: only `s3up` knows what its options and commands are called.
@Suite("The library's own words") struct LibraryWordsTests {
  /// Names of files, headers and keys that earlier versions have written: they are formats, not sentences.
  private static let formats: Set<String> = [
    "s3up stores 1", "s3up guests 1", "s3up doctor\\n", "/.local/state/s3up",
  ]

  /// The text between quotation marks in the library's sources, without comments.
  private static func strings() throws -> [(file: String, text: String)] {
    let library = Article.root.appending(path: "Sources/MultipartCore")
    let names = try #require(FileManager.default.enumerator(atPath: library.path)).compactMap { $0 as? String }
    let literal = try Regex(#""((?:[^"\\]|\\.)*)""#)
    var strings: [(file: String, text: String)] = []
    for name in names where name.hasSuffix(".swift") {
      let text = try String(contentsOf: library.appending(path: name), encoding: .utf8)
      for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        strings += line.matches(of: literal).map { (name, String($0.output[1].substring ?? "")) }
      }
    }
    return strings
  }

  private static func words(_ text: String) -> [Substring] {
    text.split { !($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
  }

  /// Whether the text is `aws` or belongs to a line with it: a command of another program.
  private static func isOfAWS(_ file: String, _ text: String) -> Bool {
    text.contains("aws ") || (file.hasSuffix("Examination+Bucket.swift") && text.hasPrefix(" --"))
  }

  private static func names(_ file: String, _ text: String) -> String? {
    let options = Set(FlagName.allCases.map { "--" + $0.rawValue })
    let words = words(text)
    if !isOfAWS(file, text), let option = words.first(where: { options.contains(String($0)) }) { return String(option) }
    if let variable = words.first(where: { $0.hasPrefix("S3UP_") }) { return String(variable) }
    // Alone the word is part of a name; among other words it names the program.
    if words.count > 1, words.contains("s3up"), !formats.contains(text) { return "s3up" }
    return nil
  }

  @Test("The library's strings name no option, variable or command, and do not speak of s3up")
  func library() throws {
    let strings = try Self.strings()
    #expect(strings.count > 3000)
    for (file, text) in strings {
      if let name = Self.names(file, text) { Issue.record("\(file) names \(name): \(text)") }
    }
  }

  @Test(
    "A string that names one is found",
    arguments: [
      "give --region", "with --part-size 8M", "set S3UP_REGION", "run s3up doctor", "another run of s3up",
      "s3up abort s3://b",
    ])
  func found(_ text: String) {
    #expect(Self.names("A.swift", text) != nil)
  }

  @Test(
    "A name in a format, and another program's command, are not found",
    arguments: ["s3up-mtime", "aws s3 mb --region r"])
  func none(_ text: String) {
    #expect(Self.names("A.swift", text) == nil)
  }
}
