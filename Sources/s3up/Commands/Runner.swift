import Glibc
import MultipartCore

/// From the words of the command line to the exit status.
enum Runner {
  static func run(_ words: [Argument], environment: [String: String]) async -> ExitStatus {
    let console = Console.standardError()
    do throws(Failure) {
      let invocation = try Parser.parse(words, environment: environment)
      let output = try OutputOptions(invocation, environment: environment)
      let session = Session(invocation: invocation, environment: environment, output: output, console: console)
      do throws(Failure) {
        try await dispatch(session)
        return .success
      } catch {
        if output.json != nil { try? StandardOutput.line(Event.failed(subject(error), error, resumable: false).json) }
        session.show(error)
        return session.status(of: error)
      }
    } catch {
      for line in ErrorText.lines(for: error) { console.line(line) }
      return ExitStatus(error.code)
    }
  }

  private static func dispatch(_ session: Session) async throws(Failure) {
    switch session.invocation.command {
    case .put: try await PutCommand(session).run()
    case .create: try await CreateCommand(session).run()
    case .part: try await PartCommand(session).run()
    case .parts: try await PartsCommand(session).run()
    case .complete: try await CompleteCommand(session).run()
    case .abort: try await AbortCommand(session).run()
    case .uploads: try await UploadsCommand(session).run()
    case .presign: try await PresignCommand(session).run()
    case .help:
      let width = Descriptor.columns(STDOUT_FILENO, environment: session.environment)
      try StandardOutput.write(
        HelpText.answer(session.invocation, width: width, version: Version.text, paint: session.paint(STDOUT_FILENO)))
    case .completions: try StandardOutput.write(HelpText.completions(session.invocation))
    }
  }

  private static func subject(_ failure: Failure) -> Event.Subject {
    Event.Subject(source: failure.place.file, bucket: failure.place.bucket, key: failure.place.key)
  }
}
