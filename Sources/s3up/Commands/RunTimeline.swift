import MultipartBasics
import MultipartCore

/// What a run did over time, and the files of `--trace` and `--report` in which it is written at the end. Whether they can
/// be written is tried before anything is sent.
final class RunTimeline: Sendable {
  let timeline: Timeline
  private let trace: ReportFile?
  private let page: ReportFile?
  private let onlyLooks: Bool
  private let planned = Locked<[String]>([])
  /// It is written once, whichever way the run ends.
  private let isOver = Locked(false)

  /// Nil if nobody asks for it. `folder` is for what does not fit into memory.
  init?(_ invocation: Invocation, _ world: World, folder: String) throws(Failure) {
    let onlyLooks = invocation.toggle(.dryRun) == true
    func file(
      _ name: FlagName, _ setting: Setting, _ begins: (ArraySlice<UInt8>) -> Bool
    ) throws(Failure) -> ReportFile? {
      guard let given = try invocation.path(name) else { return nil }
      // An earlier one is known by its first line.
      var isFirst = true
      return try ReportFile(FilePath(bytes: given.bytes), of: setting, onlyLooks: onlyLooks) { line in
        defer { isFirst = false }
        return !isFirst || begins(line)
      }
    }
    trace = try file(.trace, .trace, Timeline.begins)
    page = try file(.report, .report, Timeline.beginsPage)
    guard trace != nil || page != nil else { return nil }
    self.onlyLooks = onlyLooks
    timeline = Timeline(events: trace == nil ? nil : folder) { $0.commandText }
    timeline.begin(in: world)
    let sources = invocation.positionals.map { FilePath(bytes: $0.bytes) }
    for file in files { try file.requireOwn(sources) }
  }

  var files: [ReportFile] { [trace, page].compactMap { $0 } }

  /// What the run is going to do, and why.
  func plan(_ lines: [String]) { planned.withLock { $0 = lines } }

  /// An object must not get the name of a file that replaces it at the end.
  func refuse(target: FilePath) throws(Failure) {
    var outputs = RunOutputs()
    outputs.files = files
    if let failure = outputs.refusal(of: target) { throw failure }
  }

  /// After a run that has a result; throws if the files could not be written.
  func end(_ status: ExitStatus, _ session: Session) throws(Failure) {
    let words = status == .success ? "Done and proven." : "Files have failed: the exit status is \(status.rawValue)."
    guard var trouble = write([words], session) else { return }
    if status == .success { trouble.message += "; the run itself succeeded" }
    throw trouble
  }

  /// After a failure, which stays what the run ends with.
  func end(_ failure: Failure, _ status: ExitStatus, _ session: Session) {
    guard !timeline.isEmpty else { return }
    let lines = ErrorText.lines(for: failure) + ["The exit status is \(status.rawValue)."]
    if let trouble = write(lines, session) { session.showBeside(trouble) }
  }

  /// What the page names of the command line. The words of a command that makes or takes the object can be passwords, and
  /// a web URL can be signed.
  private static func named(_ invocation: Invocation) -> [String] {
    let words = invocation.positionals
    let hasCommand = [FlagName.fromCommand, .toCommand].contains { invocation.toggle($0) == true }
    return (hasCommand ? words.prefix(1) : words[...]).filter { !S3URL.isWeb($0) }.map { SafeText.oneLine($0.text) }
  }

  private func write(_ end: [String], _ session: Session) -> Failure? {
    let isFirst = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    guard isFirst, !onlyLooks else { return nil }
    var trouble: Failure?
    do throws(Failure) {
      try trace?.write(timeline.writeTrace)
    } catch {
      trouble = error
    }
    do throws(Failure) {
      guard let page else { return trouble }
      let words = ["s3up", session.invocation.command.rawValue] + Self.named(session.invocation)
      let lines = timeline.page(
        title: words.joined(separator: " "), plan: planned.withLock { $0 }, end: end, nonce: TicketPage.nonce())
      try page.write { (put) throws(Failure) in
        for line in lines { try put(Array((line + "\n").utf8)) }
      }
    } catch {
      if let trouble { session.showBeside(trouble) }
      trouble = error
    }
    return trouble
  }
}
