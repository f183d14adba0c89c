import MultipartCore

/// A page of help as blocks, from which the terminal and the man page are rendered.
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

  private mutating func add(_ items: [CommandPage.Item]) {
    blocks += items.map { .item(term: $0.term, text: $0.doc) }
  }

  /// `s3up help`
  static var overview: Page {
    var page = Page()
    page.blocks = [
      .subheading("s3up moves big things into S3, and never reports success without proof."),
      .heading("Examples"),
    ]
    let first = [CommandPage.put.examples[0], CommandPage.presign.examples[0], CommandPage.help.examples[0]]
    page.blocks += first.map { .example(what: $0.what, line: $0.line) }
    page.blocks += [.heading("Usage"), .synopsis("s3up COMMAND [OPTIONS] ARGUMENTS"), .heading("Commands")]
    page.add(CommandName.allCases.map { .init(term: $0.rawValue, doc: CommandPage.of($0).summary) })
    page.blocks += [.heading("Settings"), .paragraph(environmentNote)]
    page.addExitCodes()
    return page
  }

  /// `s3up help COMMAND`
  static func of(_ name: CommandName) -> Page {
    let command = CommandPage.of(name)
    var page = Page()
    page.blocks = [.subheading("s3up \(name.rawValue): \(command.summary)"), .heading("Examples")]
    page.blocks += command.examples.map { .example(what: $0.what, line: $0.line) }
    page.blocks += [.heading("Usage")] + command.synopses.map { .synopsis($0) }
    page.blocks += [.heading("What it does")] + command.about.map { .paragraph($0) }
    page.blocks.append(.heading("Arguments"))
    page.add(command.arguments)
    let flags = FlagList.of(name)
    for section in FlagSection.allCases {
      let own = flags.filter { $0.section == section }
      if own.isEmpty { continue }
      page.blocks.append(.heading("\(section.rawValue) options"))
      page.blocks += own.map { .item(term: $0.term, text: $0.text(long: false)) }
    }
    if flags.contains(where: \.hasVariable) { page.blocks += [.heading("Settings"), .paragraph(environmentNote)] }
    page.addExitCodes()
    return page
  }

  /// `s3up help --man`
  static var manual: Page {
    var page = Page()
    page.blocks = [
      .heading("Name"), .paragraph("s3up - upload big files to S3 stores, with proof"),
      .heading("Synopsis"), .synopsis("s3up COMMAND [OPTIONS] ARGUMENTS"),
      .heading("Description"),
      .paragraph("s3up moves big things into S3, and never reports success without proof."),
      .heading("Commands"),
    ]
    for name in CommandName.allCases {
      let command = CommandPage.of(name)
      page.blocks.append(.subheading("\(name.rawValue): \(command.summary)"))
      page.blocks += command.synopses.map { .synopsis($0) } + command.about.map { .paragraph($0) }
      page.add(command.arguments)
      page.blocks += command.examples.map { .example(what: $0.what, line: $0.line) }
    }
    page.blocks.append(.heading("Options"))
    page.blocks.append(.paragraph("Options may be given anywhere; everything after -- is an argument. \(forms)"))
    for section in FlagSection.allCases {
      page.blocks.append(.subheading("\(section.rawValue) options"))
      page.blocks += FlagList.all.filter { $0.section == section }.map { flag in
        .item(term: flag.term, text: flag.text(long: true) + flag.belongs)
      }
    }
    page.addExitCodes()
    page.blocks += [.heading("Environment"), .paragraph(environmentNote)]
    return page
  }

  private mutating func addExitCodes() {
    blocks.append(.heading("Exit codes"))
    add(ExitStatus.table.map { .init(term: $0.codes, doc: $0.meaning) })
  }

  private static let environmentNote = """
    Each option can also be set in the environment, by the variable named with it; the command line wins. A switch is \
    set to 1, true or yes, or to 0, false or no; an option that may be repeated to one value per line.
    """

  private static let forms = "\(SizeValue.form) \(RateValue.form) \(DurationValue.form) \(DateValue.form)"
}

extension Flag {
  /// The sentence, its default and its variables.
  func text(long: Bool) -> String {
    var text = doc
    if long, !more.isEmpty { text += " " + more }
    if long, open, choices.count > 2 { text += " For example \(choices.joined(separator: ", "))." }
    if let standard { text += " Default: \(standard)." }
    let names = variables.map(\.name)
    if !names.isEmpty { text += " [\(names.joined(separator: ", "))]" }
    return text
  }

  /// For a page that shows the options of all commands together.
  fileprivate var belongs: String {
    let commands = modes.commands
    if commands == ModeSet.all.commands { return " For every command." }
    if commands == ModeSet.store.commands { return " For every command that sends requests to a store." }
    return " For \(commands.map(\.rawValue).joined(separator: ", "))."
  }
}
