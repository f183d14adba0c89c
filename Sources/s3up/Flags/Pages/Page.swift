import MultipartBasics
import MultipartCore

/// A page of help as blocks, which are rendered for the terminal and as the man page.
struct Page: Sendable {
  enum Block: Sendable, Equatable {
    case heading(String)
    case subheading(String)
    case paragraph(String)
    /// A command to type, with what it does.
    case example(what: String, line: String)
    case synopsis(String)
    case item(term: String, text: String)
  }

  var blocks: [Block] = []

  /// Adds items under their heading, unless there are none.
  mutating func add(_ heading: String, _ items: [CommandPage.Item]) {
    guard !items.isEmpty else { return }
    blocks.append(.heading(heading))
    add(items)
  }

  private mutating func add(_ items: [CommandPage.Item]) {
    blocks += items.map { .item(term: $0.term, text: $0.doc) }
  }

  private mutating func add(_ heading: String, _ examples: some Collection<CommandPage.Example>) {
    guard !examples.isEmpty else { return }
    blocks.append(.heading(heading))
    add(examples)
  }

  private mutating func add(_ examples: some Collection<CommandPage.Example>) {
    blocks += examples.map { .example(what: $0.what, line: $0.line) }
  }

  private static let motto = "s3up moves big things into S3 and back, and never reports success without proof."

  /// The page of `s3up` without a command.
  static var start: Page {
    var page = Page()
    page.blocks = [.subheading(motto)]
    page.add(CommandPage.put.examples.prefix(2) + CommandPage.get.examples.prefix(1))
    page.blocks += [
      .subheading(
        """
        Commands: \(CommandName.allCases.map(\.rawValue).joined(separator: ", ")). s3up put -h shows the most common \
        options of put; s3up help WORD searches all help.
        """)
    ]
    return page
  }

  /// The page of `s3up help`.
  static var overview: Page {
    var page = Page()
    page.blocks = [.subheading(motto)]
    page.add("Commands", CommandName.allCases.map { .init(term: $0.rawValue, doc: CommandPage.of($0).summary) })
    page.blocks += [
      .subheading(
        """
        s3up COMMAND -h is one screen; s3up help COMMAND explains all of it. s3up help also explains \
        \(HelpTopic.words.joined(separator: ", ")), and searches any other word: s3up help rate.
        """)
    ]
    return page
  }

  /// The page of `s3up COMMAND -h`: one screen.
  static func few(_ name: CommandName, _ action: TicketCommand.Action?) -> Page {
    let command = CommandPage.of(name).only(action)
    var page = Page()
    page.blocks = [.subheading("s3up \(command.title): \(command.summary)")]
    page.blocks += command.synopses.prefix(2).map { .synopsis($0) }
    page.add("Examples", command.examples.prefix(2))
    page.add(
      "Options",
      FlagList.of(name, action).filter { !$0.common.isDisjoint(with: $0.modes.intersection(name.modes(action))) }
        .map { .init(term: $0.term, doc: $0.doc) })
    page.blocks.append(
      .subheading("All of it: s3up help \(command.title). By word: s3up help WORD, such as s3up help resume."))
    return page
  }

  /// The page of `s3up help COMMAND` or `s3up help ticket issue`.
  static func of(_ name: CommandName, _ action: TicketCommand.Action? = nil) -> Page {
    let command = CommandPage.of(name).only(action)
    var page = Page()
    page.blocks = [.subheading("s3up \(command.title): \(command.summary)")]
    page.add("Examples", command.examples)
    page.blocks += [.heading("Usage")] + command.synopses.map { .synopsis($0) }
    page.blocks += [.heading("What it does")] + command.about.map { .paragraph($0) }
    page.add("Arguments", command.arguments)
    let flags = FlagList.of(name, action)
    for section in FlagSection.allCases {
      page.add(
        "\(section.rawValue) options",
        flags.filter { $0.section == section }.map { .init(term: $0.term, doc: $0.text(long: true)) })
    }
    if flags.contains(where: \.hasVariable) { page.add(.environment, itemsToo: false) }
    page.add(.exitCodes)
    return page
  }

  /// The page of `s3up help TOPIC`.
  static func of(_ topic: HelpTopic) -> Page {
    var page = Page()
    page.add(topic)
    page.add("Examples", topic.examples)
    page.add("Options", topic.flags.map { .init(term: $0.term, doc: $0.text(long: true) + $0.belongsAmongOthers) })
    return page
  }

  private mutating func add(_ topic: HelpTopic, itemsToo: Bool = true) {
    let name = topic.rawValue.pieces(at: "-").joined(separator: " ")
    blocks += [.heading(name.prefix(1).uppercased() + name.dropFirst())] + topic.about.map { .paragraph($0) }
    if itemsToo { add(topic.items) }
  }

  /// The page of `s3up help --man`.
  static var manual: Page {
    var page = Page()
    page.blocks = [
      .heading("Name"), .paragraph("s3up - move big things into S3 and back, never without proof"),
      .heading("Synopsis"), .synopsis("s3up COMMAND [OPTIONS] ARGUMENTS"),
      .heading("Description"),
      .paragraph(motto),
      .heading("Commands"),
    ]
    for name in CommandName.allCases {
      let command = CommandPage.of(name)
      page.blocks.append(.subheading("\(name.rawValue): \(command.summary)"))
      page.blocks += command.synopses.map { .synopsis($0) } + command.about.map { .paragraph($0) }
      page.add(command.arguments)
      page.add(command.examples)
    }
    page.blocks.append(.heading("Options"))
    page.blocks.append(.paragraph("Options may be given anywhere; everything after -- is an argument."))
    for section in FlagSection.allCases {
      page.blocks.append(.subheading("\(section.rawValue) options"))
      page.blocks += FlagList.all.filter { $0.section == section }.map { flag in
        .item(term: flag.term, text: flag.text(long: true) + flag.belongs)
      }
    }
    for topic in HelpTopic.allCases { page.add(topic) }
    return page
  }
}

extension Flag {
  /// The option's sentence, default and variables.
  func text(long: Bool) -> String {
    var text = doc
    if long, !more.isEmpty { text += " " + more }
    if long, open, choices.count > 2 { text += " For example \(choices.joined(separator: ", "))." }
    if let standard { text += " Default: \(standard)." }
    let names = variables.map(\.name)
    if !names.isEmpty { text += " [\(names.joined(separator: ", "))]" }
    return text
  }

  /// The commands that have it.
  var belongs: String { modes.belongs }

  /// The commands that have it, also those that explain it in other words.
  var belongsAmongOthers: String {
    let others = FlagList.commands(with: name).filter { !modes.commands.contains($0) }.map(\.rawValue)
    guard !others.isEmpty else { return belongs }
    return belongs.upTo(".") + "; \(others.joined(separator: ", ")) \(others.count == 1 ? "has" : "have") it too."
  }
}

extension ModeSet {
  /// The commands of an option, for a page that shows the options of all commands together.
  var belongs: String {
    if commands == ModeSet.all.commands { return " For every command." }
    if commands == ModeSet.store.commands { return " For every command that sends requests to a store." }
    return " For \(commands.map(\.rawValue).joined(separator: ", "))."
  }
}
