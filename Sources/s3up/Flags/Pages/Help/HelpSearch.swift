import MultipartBasics
import MultipartCore

/// `s3up help WORD...`: what the definitions of options, commands and topics say about a word.
struct HelpSearch {
  private let sought: [String]
  private let title: String

  init(_ words: [String]) {
    sought = words.flatMap(Self.pieces)
    title = words.joined(separator: " ")
  }

  /// The page of matches; nil if there are none.
  var page: Page? {
    var page = Page()
    let flags = FlagList.all
    let isNamed: (Flag) -> Bool = { isIn($0.name.rawValue) || $0.variables.contains { isIn($0.name) } }
    let named = flags.filter(isNamed)
    let others = flags.filter { !isNamed($0) && isIn([$0.doc, $0.more].joined(separator: " ")) }
    let topics = HelpTopic.allCases.filter { isIn(([$0.rawValue, $0.summary] + $0.about).joined(separator: " ")) }
    let foreign = sought.isEmpty ? nil : OtherTools.answer(title)
    if let foreign { page.blocks.append(.paragraph(foreign)) }
    if !named.isEmpty {
      page.blocks.append(.heading("Options"))
      page.blocks += named.map { .item(term: $0.term, text: $0.text(long: true) + $0.belongs) }
    }
    let said = CommandName.allCases.map { CommandPage.of($0) }.map { ($0, $0.about.filter(isIn)) }
      .filter { isIn($0.0.summary) || !$0.1.isEmpty }
    for (command, about) in said {
      page.blocks.append(.heading(command.name.rawValue))
      page.blocks += (about.isEmpty ? [command.summary] : about).map { .paragraph($0) }
    }
    page.add("Exit codes", HelpTopic.exitCodes.items.filter { isIn("\($0.term) \($0.doc)") })
    page.add("Environment", HelpTopic.variables.filter { isIn("\($0.term) \($0.doc)") })
    page.add("Topics", topics.map { .init(term: "s3up help \($0.rawValue)", doc: $0.summary) })
    page.add("Options that mention it", Self.merged(others))
    return page.blocks.isEmpty ? nil : page
  }

  /// The options, each once if commands describe it in the same words.
  private static func merged(_ flags: [Flag]) -> [CommandPage.Item] {
    flags.indices.compactMap { index in
      let flag = flags[index]
      let same: (Flag) -> Bool = { $0.term == flag.term && $0.doc == flag.doc }
      guard !flags[..<index].contains(where: same) else { return nil }
      let modes = flags.filter(same).reduce(into: ModeSet()) { $0.formUnion($1.modes) }
      return .init(term: flag.term, doc: flag.doc + modes.belongs)
    }
  }

  /// Whether each of the words is the beginning of a word in the text.
  private func isIn(_ text: String) -> Bool {
    guard !sought.isEmpty else { return false }
    let words = Self.pieces(text)
    return sought.allSatisfy { piece in words.contains { $0.begins(with: piece) } }
  }

  private static func pieces(_ text: String) -> [String] {
    text.lowercased().utf8.split { !ASCII.isAlphanumeric($0) }.map { String(decoding: $0, as: UTF8.self) }
  }
}
