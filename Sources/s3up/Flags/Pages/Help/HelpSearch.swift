import MultipartBasics
import MultipartCore

/// `s3up help WORD...`: what the definitions of options, commands and topics say about a word. `s3up help COMMAND
/// WORD...` searches the page of the command first.
struct HelpSearch {
  private let sought: [String]
  private let title: String
  private let words: [String]

  init(_ words: [String]) {
    sought = words.flatMap(Self.pieces)
    title = words.joined(separator: " ")
    self.words = words
  }

  /// The page of matches; nil if there are none.
  var page: Page? {
    if words.count > 1, let command = words.first.flatMap(CommandName.init),
      let page = HelpSearch(Array(words.dropFirst())).matches(in: .of(command))
    {
      return page
    }
    return matches
  }

  /// The options of a command that are named so, or else what its page says about the words.
  private func matches(in command: CommandPage) -> Page? {
    let flags = FlagList.of(command.name)
    let named = flags.filter(isNamed)
    var page = Page()
    if named.isEmpty { page.blocks += command.about.filter(isIn).map { .paragraph($0) } }
    let found = named.isEmpty ? flags.filter { isIn([$0.doc, $0.more].joined(separator: " ")) } : named
    page.add("Options of \(command.name.rawValue)", found.map { .init(term: $0.term, doc: $0.text(long: true)) })
    return page.blocks.isEmpty ? nil : page
  }

  private var matches: Page? {
    var page = Page()
    let flags = FlagList.all
    let named = flags.filter(isNamed)
    let others = flags.filter { !isNamed($0) && isIn([$0.doc, $0.more].joined(separator: " ")) }
    let topics = HelpTopic.allCases.filter { isIn(([$0.rawValue, $0.summary] + $0.about).joined(separator: " ")) }
    let answer = sought.isEmpty ? nil : OtherTools.answer(title) ?? HelpWord.answer(title).map { "'\(title)': \($0)." }
    if let answer { page.blocks.append(.paragraph(answer)) }
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

  private func isNamed(_ flag: Flag) -> Bool {
    isIn(flag.name.rawValue) || flag.variables.contains { isIn($0.name) }
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
