import Foundation

/// The README, or an article of the documentation.
struct Article: Sendable {
  let name: String
  let text: String

  static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

  static let folder = root.appending(path: "Sources/MultipartCore/MultipartCore.docc")

  static let all: [Article] = {
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    let articles = files.filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
    return ([root.appending(path: "README.md")] + articles).map(Article.init)
  }()

  init(_ file: URL) {
    name = file.lastPathComponent
    text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  }

  static func named(_ name: String) -> Article? { all.first { $0.name == name } }

  /// The blocks in this language, each whole.
  func blocks(_ language: String) -> [String] {
    fenced.filter { $0.hasPrefix("\(language)\n") }.map { String($0.dropFirst(language.utf8.count + 1)) }
  }

  /// The commands of a crontab as cron gives them to the shell: without their times, and with `\%` as `%`.
  var crontab: [String] {
    lines(of: "crontab").filter { !$0.hasPrefix("#") && !$0.hasPrefix("PATH=") }.map {
      $0.split(separator: " ", maxSplits: 5).dropFirst(5).joined().trimmingCharacters(in: .whitespaces)
        .replacingOccurrences(of: "\\%", with: "%")
    }
  }

  /// What a reader can run: each block of shell as one script, the text after a prompt, and the commands of a crontab
  /// or a CI job.
  var examples: [String] {
    let typed = fenced.flatMap { $0.components(separatedBy: "\n") }.filter { $0.hasPrefix("$ ") }
    let steps = lines(of: "yaml").map { line in
      ["- ", "run: "].reduce(line.trimmingCharacters(in: .whitespaces)) {
        $0.hasPrefix($1) ? String($0.dropFirst($1.utf8.count)) : $0
      }
    }
    return blocks("sh") + typed.map { String($0.dropFirst(2)) } + crontab + steps.filter { $0.hasPrefix("s3up ") }
  }

  private func lines(of language: String) -> [String] {
    blocks(language).flatMap { $0.components(separatedBy: "\n") }.filter { !$0.isEmpty }
  }

  private var fenced: [String] {
    text.components(separatedBy: "\n```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }
}
