import Foundation
@testable import MultipartCore
import Support
import Testing

@testable import s3up

@Suite(.timeLimit(.minutes(15))) struct FlagListTests {
  @Test func everyNameIsDefinedAndOnceForACommand() {
    for name in FlagName.allCases { #expect(!FlagList.commands(with: name).isEmpty, "\(name.rawValue)") }
    for command in CommandName.allCases {
      let names = FlagList.of(command).map(\.name)
      #expect(Set(names).count == names.count, "\(command.rawValue)")
    }
  }

  @Test func definitionsOfOneNameTakeTheirValuesTheSameWay() {
    // Before the command is known, any option must tell whether the next word is its value.
    for a in FlagList.all {
      for b in FlagList.all where a.name == b.name { #expect(a.takesNextWord == b.takesNextWord) }
    }
  }

  @Test func noVariableMeansTwoOptions() {
    var owner: [String: FlagName] = [:]
    for flag in FlagList.all {
      for variable in flag.variables {
        #expect(owner.updateValue(flag.name, forKey: variable.name) ?? flag.name == flag.name)
      }
    }
    #expect(owner["S3UP_PART_SIZE"] == .partSize)
    #expect(owner["AWS_ENDPOINT_URL_S3"] == .endpointURL)
  }

  @Test func sentencesEnd() {
    for flag in FlagList.all { #expect(flag.doc.hasSuffix("."), "\(flag.long)") }
  }
}

@Suite(.timeLimit(.minutes(15))) struct HelpTests {
  private func terms(_ page: Page) -> [String] {
    page.blocks.compactMap { if case .item(let term, _) = $0 { term } else { nil } }
  }

  @Test(arguments: CommandName.allCases)
  func helpShowsEachOptionOfItsCommandAndNoOther(_ command: CommandName) {
    let shown = terms(.of(command)).filter { $0.hasPrefix("-") }
    #expect(
      shown
        == FlagSection.allCases.flatMap { section in FlagList.of(command).filter { $0.section == section }.map(\.term) }
    )
    let text = TextPage.draw(.of(command), width: 80)
    for flag in FlagList.of(command) {
      for variable in flag.variables { #expect(text.contains(variable.name), "\(variable.name)") }
    }
  }

  @Test(arguments: CommandName.allCases)
  func helpBeginsWithExamplesAndEndsWithExitCodes(_ command: CommandName) {
    let headings = Page.of(command).blocks.compactMap { if case .heading(let text) = $0 { text } else { nil } }
    #expect(Array(headings.prefix(4)) == ["Examples", "Usage", "What it does", "Arguments"])
    #expect(headings.last == "Exit codes")
  }

  @Test(arguments: CommandName.allCases)
  func theExamplesAreValidCommandLines(_ command: CommandName) throws {
    for example in CommandPage.of(command).examples {
      // The part before a pipe or redirection, without the shell's syntax.
      let call = example.line.components(separatedBy: "s3up ").dropFirst().joined(separator: "s3up ")
      let end = call.firstIndex { "|>)".contains($0) } ?? call.endIndex
      let words = call[..<end].split(separator: " ").map { Argument(String($0.replacing("\"", with: ""))) }
      let invocation = try Parser.parse(words, environment: [:])
      #expect(invocation.command == command || command == .help, "\(example.line)")
    }
  }

  @Test func theOverviewHasACommandALine() {
    let text = TextPage.draw(.overview, width: 80)
    for name in CommandName.allCases {
      #expect(
        text.split(separator: "\n").contains {
          $0.hasPrefix("  \(name.rawValue) ") && $0.hasSuffix(CommandPage.of(name).summary)
        })
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct ManPageTests {
  private let roff = ManPage.draw(.manual, version: "1.2.3")

  @Test func theManPageHasEachCommandOptionAndVariable() {
    for flag in FlagList.all {
      #expect(
        roff.contains("\\fB" + ManPage.escape(flag.term) + "\\fR\n" + ManPage.escape(flag.text(long: true))),
        "\(flag.long)")
    }
    for name in CommandName.allCases { #expect(roff.contains(".SS \"\(name.rawValue): "), "\(name.rawValue)") }
    for topic in HelpTopic.allCases {
      for text in topic.about { #expect(roff.contains(ManPage.escape(text)), "\(topic)") }
      for item in topic.items { #expect(roff.contains(ManPage.escape(item.doc)), "\(topic)") }
    }
    #expect(roff.components(separatedBy: ".TP\n\\fB\\-").count - 1 == FlagList.all.count)
  }

  @Test func onlyRequestsOfTheManMacrosBeginALine() {
    let known: Set<Substring> = [".TH", ".nh", ".ad", ".SH", ".SS", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi"]
    for line in roff.split(separator: "\n") where line.hasPrefix(".") {
      #expect(known.contains(line.prefix { $0 != " " }), "\(line)")
    }
    #expect(!roff.split(separator: "\n").contains { $0.hasPrefix("'") })
    #expect(roff.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test func whatRoffWouldChangeIsEscaped() {
    #expect(ManPage.escape("a-b\\c'\"`^~") == "a\\-b\\ec\\(aq\\(dq\\(ga\\(ha\\(ti")
    var page = Page()
    page.blocks = [.paragraph(".hidden"), .paragraph("'hidden")]
    #expect(ManPage.draw(page, version: "").contains("\\&.hidden"))
    #expect(!ManPage.draw(page, version: "").contains("\n'"))
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")))
  func groffHasNoComplaint() throws {
    let (out, error) = try run("/usr/bin/groff", ["-man", "-ww", "-z", "-Tutf8"], input: roff)
    #expect(error.isEmpty, "\(error)")
    #expect(out.isEmpty)
  }
}

@Suite(.timeLimit(.minutes(15))) struct CompletionTests {
  /// Sources the script in a bash without the user's files, and completes the last word.
  private func bash(_ words: [String]) throws -> [String] {
    let quoted = words.map { "'\($0)'" }.joined(separator: " ")
    let script = """
      \(BashCompletions.script)
      COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count - 1)
      _s3up
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let (out, error) = try run("/bin/bash", ["--norc", "--noprofile", "-eu", "-s"], input: script)
    #expect(error.isEmpty, "\(error)")
    return out.split(separator: "\n").map(String.init)
  }

  @Test func bashCompletesCommandsOptionsAndValues() throws {
    #expect(try bash(["s3up", "pre"]) == ["presign"])
    #expect(try bash(["s3up", ""]) == CommandName.words)
    #expect(try bash(["s3up", "put", "--part"]) == ["--parts", "--part-size"])
    #expect(try bash(["s3up", "put", "--checksum", "crc"]) == ["crc64nvme", "crc32c", "crc32"])
    #expect(try bash(["s3up", "put", "--checksum", "=", "sha"]) == ["sha256", "sha1"])
    #expect(try bash(["s3up", "put", "--addressing", "="]) == Addressing.words)
    #expect(try bash(["s3up", "put", "--sse", "aws", ":", "kms"]) == ["kms", "kms:dsse"])
    #expect(try bash(["s3up", "put", "--sse", "=", "aws", ":"]) == ["kms", "kms:dsse"])
    #expect(try bash(["s3up", "put", "--sse", "A"]) == ["AES256"])
    #expect(try bash(["s3up", "help", "comp"]) == ["complete", "completions"])
    #expect(try bash(["s3up", "help", "exit"]) == ["exit-codes"])
    #expect(try bash(["s3up", "completions", ""]) == ShellChoice.words)
    #expect(try bash(["s3up", "put", "file"]).isEmpty)
    #expect(try bash(["s3up", "ticket", ""]) == TicketCommand.Action.words)
    #expect(try bash(["s3up", "ticket", "show", ""]).isEmpty)
    let command = ["s3up", "put", "--from-command", "s3://b/k", "--", "prin"]
    #expect(try bash(command).contains("printf"))
  }

  @Test("The profiles of both shared files are offered, and missing files cause no message")
  func profiles() throws {
    let folder = try TemporaryDirectory()
    try folder.write("[default]\na=b\n[profile one]\n[profile  two ]\n[sso-session x]\n", to: "config")
    try folder.write("[three]\n", to: "credentials")
    let files = "AWS_CONFIG_FILE=\(folder.path)/config AWS_SHARED_CREDENTIALS_FILE=\(folder.path)"
    let ask = { (credentials: String) in
      "_s3up_profiles() {\n\(Completions.profiles)\n}\nexport \(files)/\(credentials)\n_s3up_profiles || true\n"
    }
    #expect(try run("/bin/sh", ["-s"], input: ask("credentials")) == ("default\none\ntwo\nthree\n", ""))
    #expect(try run("/bin/sh", ["-s"], input: ask("none")) == ("default\none\ntwo\n", ""))
  }

  @Test(arguments: CommandName.allCases)
  func bashKnowsEachOptionOfACommandAndNoOther(_ command: CommandName) throws {
    let offered = try bash(["s3up", command.rawValue, "-"])
    #expect(Set(offered) == Set(FlagList.of(command).flatMap(Completions.spellings)))
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh")))
  func zshReadsItsScript() throws {
    let (_, error) = try run("/usr/bin/zsh", ["-f", "-n"], input: ZshCompletions.script)
    #expect(error.isEmpty, "\(error)")
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/fish")))
  func fishCompletesCommandsAndValues() throws {
    let ask = "complete -C 's3up pre'; complete -C 's3up put --addressing p'"
    let (out, error) = try run("/usr/bin/fish", ["--no-config"], input: FishCompletions.script + ask + "\n")
    #expect(error.isEmpty, "\(error)")
    #expect(out.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == ["presign", "path"])
  }

  @Test func zshAndFishKnowEachOption() {
    let zsh = ZshCompletions.script
    let fish = FishCompletions.script
    for command in CommandName.allCases {
      let from = zsh.components(separatedBy: "        \(command.rawValue)) _arguments")
      #expect(from.count == 2)
      let body = from.last?.components(separatedBy: " ;;").first ?? ""
      for flag in FlagList.of(command) {
        #expect(body.contains("\(flag.long)[") || body.contains("\(flag.long)="), "\(command.rawValue) \(flag.long)")
        let line = "complete -c s3up -n '__fish_seen_subcommand_from \(command.rawValue)'"
        let names = (flag.short.map { " -s \($0)" } ?? "") + " -l \(flag.name.rawValue) "
        #expect(fish.contains(line + names), "\(command.rawValue) \(flag.long)")
      }
    }
  }
}

private func run(_ tool: String, _ arguments: [String], input: String) throws -> (out: String, error: String) {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: tool)
  process.arguments = arguments
  let (feed, out, error) = (Pipe(), Pipe(), Pipe())
  process.standardInput = feed
  process.standardOutput = out
  process.standardError = error
  try process.run()
  // The output fits into a pipe; the input may not, so it is written while the tool reads.
  try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
  try feed.fileHandleForWriting.close()
  let text = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  let complaint = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (text, complaint)
}
