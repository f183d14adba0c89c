import Glibc
import MultipartBasics
import MultipartCore

/// From the arguments to the exit status.
enum Runner {
  static func run(_ words: [Argument], environment: [String: String], signals: Signals) async -> ExitStatus {
    let console = Console.standardError()
    do throws(Failure) {
      let invocation = try Parser.parse(words, environment: environment)
      let output = try OutputOptions(invocation, environment: environment)
      for (name, meant) in FlagEnvironment.misspelt(in: environment) where !output.quiet {
        console.line("s3up: \(SafeText.oneLine(name)) sets nothing; did you mean \(meant)?")
      }
      var session = Session(
        invocation: invocation, environment: environment, output: output, console: console, signals: signals)
      let status = await end(&session)
      await session.notification?.tell(status, session)
      return status
    } catch {
      return refuse(words, environment: environment, because: error)
    }
  }

  /// Reports what is wrong before a command has begun.
  static func refuse(_ words: [Argument], environment: [String: String], because failure: Failure) -> ExitStatus {
    let status = ExitStatus(failure.code)
    if OutputOptions.askForJSON(words, environment: environment) {
      try? StandardOutput.line(Event.failed(failure, status).json)
    }
    let console = Console.standardError()
    for line in ErrorText.lines(for: failure) { console.line(line) }
    return status
  }

  private static func end(_ session: inout Session) async -> ExitStatus {
    do throws(Failure) {
      if ModeSet.store.contains(session.invocation.mode) {
        // Until a command says how it stops, nothing has begun.
        session.signals.listen { [session] in
          session.tell(.interrupted)
          session.signals.end(session.status(of: .interrupted).rawValue)
        }
      }
      try session.readOptions()
      let status = try await dispatch(session)
      do throws(Failure) {
        try session.report?.write(session)
        try session.timeline?.end(status, session)
        try StandardOutput.settle()
      } catch {
        guard status != .success else { throw error }
        session.showBeside(error)
      }
      return status
    } catch {
      let status = session.status(of: error)
      session.timeline?.end(error, status, session)
      session.tell(error)
      // Nothing has run after a wrong command line, so that what an earlier run has written stays.
      if error.code != .usage {
        do throws(Failure) { try session.report?.write(session) } catch { session.showBeside(error) }
      }
      return status
    }
  }

  private static func dispatch(_ session: Session) async throws(Failure) -> ExitStatus {
    let mode = session.invocation.mode
    let work = { @Sendable () async throws(Failure) in
      // `doctor` examines the identity itself.
      try await perform(mode, mode == .doctor ? session : try await IdentityKeys.resolved(session))
    }
    // A signal cancels the request, and the end is reported like any other.
    return try await stopsAtOnce.contains(mode) ? session.stoppable(work) : work()
  }

  /// Commands that a signal cancels wherever they are, until they begin an upload or complete one.
  private static let stopsAtOnce = ModeSet.store.subtracting([.put, .get, .verify, .doctor])

  private static func perform(_ mode: Mode, _ session: Session) async throws(Failure) -> ExitStatus {
    switch mode {
    case .putOne: try await PutCommand(session).run()
    case .putMany: return try await PutManyCommand(session).run()
    case .putByTicket: try await TicketPutCommand(session).run()
    case .putByTickets: return try await TicketPutCommand(session).runMany()
    case .getOne, .getURL: try await GetCommand(session).run()
    case .getMany: return try await GetManyCommand(session).run()
    case .verifyOne: try await VerifyCommand(session).run()
    case .verifyMany: return try await VerifyManyCommand(session).run()
    case .ls: try await ListCommand(session).run()
    case .head: try await HeadCommand(session).run()
    case .create: try await CreateCommand(session).run()
    case .partSigned, .partByURL: try await PartCommand(session).run()
    case .parts: try await PartsCommand(session).run()
    case .complete: try await CompleteCommand(session).run()
    case .abort: try await AbortCommand(session).run()
    case .uploads: return try await UploadsCommand(session).run()
    case .issueOne, .issueMany, .showTicket, .renewTicket, .finishTicket, .revokeTicket:
      return try await TicketCommand(session).run()
    case .presign: try await PresignCommand(session).run()
    case .doctor: return try await DoctorCommand(session).run()
    case .help:
      let width = Descriptor.columns(STDOUT_FILENO, environment: session.environment)
      let text = try HelpText.answer(
        session.invocation, width: width, version: Version.text, paint: session.paint(STDOUT_FILENO))
      if HelpText.isLong(session.invocation) { Pager.show(text, session.environment) }
      try StandardOutput.write(text)
    case .completions: try StandardOutput.write(HelpText.completions(session.invocation))
    }
    return .success
  }
}
