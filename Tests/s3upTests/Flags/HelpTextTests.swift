import Foundation
@testable import MultipartCore
import Support
import Testing

@testable import s3up

@Suite(.timeLimit(.minutes(15))) struct HelpTextTests {
  private static func answer(_ words: String..., width: Int = 80) throws -> String {
    let invocation = try Parser.parse(words.map { Argument($0) }, environment: [:])
    return try HelpText.answer(invocation, width: width, version: "1.2.3")
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  private static let pages: [Page] =
    [.start, .overview] + CommandName.allCases.flatMap { [.of($0), .few($0, nil)] }
    + TicketCommand.Action.allCases.flatMap { [.of(.ticket, $0), .few(.ticket, $0)] }
    + HelpTopic.allCases.map { .of($0) } + ["rate", "resume", "sync"].compactMap { HelpSearch([$0]).page }

  @Test("Without arguments it shows ten lines with three examples")
  func alone() throws {
    let text = try Self.answer()
    #expect(Self.lines(text).count <= 12 && text.components(separatedBy: "\n  s3up ").count == 4, "\(text)")
    #expect(try Self.answer("-h") == text)
    #expect(try Self.answer("help") == Self.answer("--help") && Self.answer("help") != text)
    // With the prompt below it, the list of commands fits on one screen of 24 rows.
    #expect(Self.lines(try Self.answer("help")).count <= 23)
  }

  @Test("The short help of each command fits into 24 lines of 80 columns, and names the options that most people need")
  func short() throws {
    for command in CommandName.allCases {
      let text = try Self.answer(command.rawValue, "-h")
      #expect(Self.lines(text).count <= 24, "\(command) \(Self.lines(text).count)")
      #expect(text.contains("s3up help \(command.rawValue)"), "\(command)")
      let few = FlagList.of(command).filter { text.contains("  " + $0.term) }
      #expect(few.count <= 12 && few.count >= min(4, FlagList.of(command).count - 5), "\(command) \(few.map(\.long))")
    }
    let put = try Self.answer("put", "-h")
    for option in ["-r, --recursive", "--exclude", "--content-type", "--endpoint-url", "--limit-rate", "--skip-same"] {
      #expect(put.contains("  \(option)"), "\(option)")
    }
    #expect(!put.contains("S3UP_"))
  }

  @Test(
    "Lines fit the terminal from 20 to 300 columns, and no word is broken",
    arguments: Array(20...44) + [60, 71, 72, 80, 120, 200, 299, 300, 1000])
  func width(_ width: Int) {
    for (page, words) in Self.words {
      let text = TextPage.draw(page, width: width)
      for line in Self.lines(text) where TextWidth.columns(line) > min(width, 300) {
        // Only a word that is longer than the line may exceed it, including one that a shell's quotes form.
        #expect(
          !line.trimmingCharacters(in: .whitespaces).replacing(" \\", with: "").replacing(/'.*'/, with: "").contains(
            " "), "\(width): \(line)")
      }
      #expect(Self.words(text) == words)
    }
  }

  /// Each page with its words at 300 columns.
  private static let words = pages.map { ($0, words(TextPage.draw($0, width: 300))) }

  private static func words(_ text: String) -> String {
    // A backslash by itself continues a command on the next line, and each line of a comment has its sign.
    let words = text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map { String(Substring($0)) }
    return words.filter { $0 != "\\" && $0 != "#" }.joined(separator: " ")
  }

  @Test("A wide terminal is used: paragraphs fill 200 columns")
  func wide() {
    let text = TextPage.draw(.of(.put), width: 200)
    #expect(Self.lines(text).contains { TextWidth.columns($0) > 180 })
  }

  @Test("A command that is broken over lines is still that command in a shell, even with quotes")
  func broken() async throws {
    let line = try #require(CommandPage.put.examples.first { $0.line.contains("pipefail") }).line
    for width in [20, 30, 50] {
      let page = Page(blocks: [.example(what: "What a program writes, without a temporary file", line: line)])
      let command = TextPage.draw(page, width: width)
      #expect(command.contains("\n  # ") && command.contains(" \\\n"))
      let result = try await ChildProcess(
        Programs.find("sh"), ["-c", "s3up() { printf '%s\\n' \"$@\"; }; " + command], environment: [:]
      ).wait(timeout: .seconds(60))
      #expect(
        result.output
          == "put\n--from-command\ns3://my-bucket/db.sql.zst\n--\nbash\n-c\nset -o pipefail; pg_dump mydb | zstd\n")
    }
  }

  @Test("A word is searched for in options, commands and topics; a match of a name comes first")
  func search() throws {
    let rate = try Self.answer("help", "rate")
    #expect(rate.contains("--limit-rate RATE|off") && rate.contains("s3up help values"), "\(rate)")
    #expect(rate.range(of: "--limit-rate")!.lowerBound < rate.range(of: "--concurrency")!.lowerBound)
    #expect(!rate.contains("separate"))
    let resume = try Self.answer("help", "resume")
    #expect(resume.contains("--resume WHEN") && resume.contains("After any interruption the same command resumes"))
    #expect(try Self.answer("help", "--limit-rate") == Self.answer("help", "limit-rate"))
    #expect(try Self.answer("help", "stall", "timeout").contains("--stall-timeout DURATION"))
    #expect(try Self.answer("help", "S3UP_PART_SIZE").contains("--part-size"))
    #expect(try Self.answer("help", "-n").contains("--dry-run"))
    #expect(try Self.answer("help", "sync").contains("--skip-same"))
    #expect(try Self.answer("help", "AWS_ACCESS_KEY_ID").contains("Credentials, before any profile's."))
    #expect(try Self.answer("help", "73").contains("precondition"))
    #expect(try Self.answer("help", "CI").contains("s3up help cron"))
    let partSize = try Self.answer("help", "put", "--part-size")
    #expect(partSize.contains("Size of one part") && !partSize.contains("icket"), "\(partSize)")
    #expect(try Self.answer("help", "put", "interruption").contains("same command resumes"))
    for (word, answer) in [("Backup", "--skip-same"), ("403", "s3:PutObject"), ("minio", "--endpoint-url")] {
      #expect(try Self.answer("help", word).contains(answer), "\(word)")
    }
    let deadline = try Self.answer("help", "75").components(separatedBy: "--deadline DURATION")
    #expect(deadline.count == 2, "what two commands say in the same words is shown once")
    let none = #expect(throws: Failure.self) { try Self.answer("help", "prts") }
    #expect(none?.code == .usage && none?.message.contains("did you mean 'parts'?") == true)
  }

  @Test("Topics: exit codes, environment, filters, tickets, and how values are written")
  func topics() throws {
    for row in ExitStatus.table { #expect(try Self.answer("help", "exit-codes", width: 300).contains(row.meaning)) }
    #expect(try Self.answer("help", "environment").contains("AWS_ENDPOINT_URL_S3"))
    #expect(try Self.answer("help", "filters").contains("gitignore"))
    #expect(try Self.answer("help", "tickets").contains("s3up ticket issue"))
    #expect(try Self.answer("help", "values").contains("8MiB"))
    #expect(try Self.answer("help", "credentials").contains("--wait-for-credentials"))
    #expect(try Self.answer("help", "cron").contains("--deadline"))
    for topic in HelpTopic.allCases { #expect(try Self.answer("help").contains(topic.rawValue)) }
  }

  @Test("A command that uploads nothing has no option that says so")
  func words() {
    for command in CommandName.allCases where ![.put, .part, .ticket].contains(command) {
      for flag in FlagList.of(command) { #expect(!flag.doc.hasPrefix("Upload the "), "\(command) \(flag.long)") }
      guard command != .presign else { continue }
      #expect(!FlagList.of(command).contains { $0.section == .presign }, "\(command)")
    }
  }

  @Test("An action of ticket has its own help, with its options only")
  func actions() throws {
    let issue = try Self.answer("help", "ticket", "issue")
    #expect(issue.contains("--max-size") && !issue.contains("--trust-edited") && !issue.contains("ticket renew ["))
    #expect(try Self.answer("ticket", "issue", "--help") == issue)
    #expect(try Self.answer("ticket", "renew", "f", "--help").contains("--trust-edited"))
    #expect(try Self.answer("ticket", "issue", "-h").contains("--expires"))
    #expect(try Self.answer("ticket", "nonsense", "-h") == Self.answer("ticket", "-h"))
  }

  @Test("Each variable that the topic names is read somewhere")
  func variables() throws {
    let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardizedFileURL
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    var code = ""
    for case let file as URL in try #require(files)
    where file.pathExtension == "swift" && file.lastPathComponent != "HelpTopic.swift" {
      code += try String(contentsOf: file, encoding: .utf8)
    }
    for name in HelpTopic.variables.flatMap({ $0.term.components(separatedBy: ", ") }) {
      #expect(code.contains("\"\(name)\""), "\(name)")
    }
  }
}

/// The pager, in a terminal of 24 rows that `script` makes.
@Suite(.crowd) struct PagerTests {
  private static func terminal(
    _ line: String, pager: String?, term: String = "xterm", standIns: [String] = []
  ) async throws -> String {
    var box = try BlackBox()
    box.environment["PAGER"] = pager
    box.environment["TERM"] = term
    box.environment["NO_COLOR"] = "1"
    for name in standIns {
      try box.files.write("#!/bin/sh\nexec /bin/sed 's/^/\(name): /'\n", to: name)
      #expect(chmod(box.files.path(name), 0o755) == 0)
    }
    box.environment["LINE"] = "stty rows 24 cols 80; \(standIns.isEmpty ? "" : "PATH=.; ")\"$S3UP\" \(line)"
    return try await box.shell("exec script -qec \"$LINE\" /dev/null </dev/null").output
  }

  @Test("Help that is longer than the terminal goes through the pager")
  func long() async throws {
    for line in ["help put", "put --help"] {
      let shown = try await Self.terminal(line, pager: "sed 's/^/paged: /'")
      #expect(shown.contains("paged: Exit codes:"), "\(shown.suffix(300))")
    }
  }

  @Test(
    "Help that fits is printed directly, and so is short help, and output that is not a terminal",
    arguments: ["", "help", "put -h", "--version", "help put | cat", "help --man | cat"])
  func short(_ line: String) async throws {
    let shown = try await Self.terminal(line, pager: "sed 's/^/paged: /'")
    #expect(!shown.contains("paged:") && shown.contains("s3up"), "\(shown.prefix(300))")
  }

  @Test(
    "Without PAGER less shows it, or else more; an empty PAGER, cat and a dumb terminal mean none",
    arguments: [
      (nil, "xterm", ["less", "more"], "less: "), (nil, "xterm", ["more"], "more: "), ("", "xterm", ["less"], ""),
      ("cat", "xterm", ["less"], ""), (nil, "dumb", ["less"], ""),
    ] as [(String?, String, [String], String)])
  func standard(_ pager: String?, _ term: String, _ standIns: [String], _ mark: String) async throws {
    let line = "help put"
    let shown = try await Self.terminal(
      line, pager: pager, term: term, standIns: standIns.map { $0 })
    #expect(shown.contains("\n\(mark)Exit codes:"), "\(shown.suffix(300))")
  }

  @Test("If the pager cannot be started, the help is printed")
  func missing() async throws {
    let shown = try await Self.terminal("help put", pager: "no-such-pager -x")
    #expect(shown.contains("Exit codes:"), "\(shown.suffix(300))")
  }

  @Test("A signal ends the pager as it would end any program")
  func interrupted() async throws {
    let shown = try await Self.terminal("help put; echo status $?", pager: "kill -INT $$; echo still there")
    #expect(shown.contains("status 130") && !shown.contains("still there"), "\(shown)")
  }
}
