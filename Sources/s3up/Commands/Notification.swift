import Glibc
import MultipartBasics
import MultipartCore

/// Posts the outcome of the run to a URL: the last event that `--json` prints.
struct Notification: Sendable {
  enum Occasion: String, Sendable, CaseIterable { case always, failure, success }

  static let secretVariable = "S3UP_NOTIFY_SECRET"
  private static let limit = Duration.seconds(30)
  /// The limit after a signal, which ends the run within five seconds, and at the end of the deadline.
  private static let shortLimit = Duration.seconds(2)

  private let hook: WebHook
  private let occasion: Occasion
  /// The end of the run's `--deadline`, by the uptime.
  private let end: Duration?
  private let event = Locked<String?>(nil)

  /// Reads `--notify`; nil without it.
  init?(_ invocation: Invocation, _ environment: [String: String], since start: Duration) throws(Failure) {
    end = try invocation.duration(.deadline).map { start + $0 }
    let occasion = try invocation.choice(.notifyOn, as: Occasion.self)
    let secret = try Self.secret(invocation, environment)
    guard let given = invocation.last(.notify) else { return nil }
    do throws(Failure) {
      hook = try WebHook(given.value.text, secret: secret)
    } catch {
      // The value is not shown: anyone who knows it can post there.
      throw Failure(
        .usage, "\(given.origin.text): \(error.message.commandText)", remedy: error.remedy?.commandText)
    }
    self.occasion = occasion ?? .always
  }

  private static func secret(_ invocation: Invocation, _ environment: [String: String]) throws(Failure) -> Secret? {
    if let file = try invocation.path(.notifySecretFile) {
      let path = FilePath(bytes: file.bytes)
      guard let whole = String(validating: try path.contents(), as: UTF8.self) else {
        throw Failure(
          .configuration, "the file of the secret is not a text",
          remedy: "Write the secret in letters and digits, such as those of openssl rand -hex 32."
        ).at(Place(file: path.text))
      }
      let text = ASCII.trimmed(whole)
      guard !text.isEmpty else {
        throw Failure(.configuration, "the file of the secret is empty", remedy: "Write the secret into it.")
          .at(Place(file: path.text))
      }
      return Secret(text)
    }
    // Secrets of CI often end in a line feed.
    let text = environment[secretVariable].map { ASCII.trimmed($0) } ?? ""
    return text.isEmpty ? nil : Secret(text)
  }

  /// Remembers an event; the last one is sent.
  func note(_ json: String) { event.withLock { $0 = json } }

  /// Sends the event. A failure has no effect on the run.
  func tell(_ status: ExitStatus, _ session: Session) async {
    guard occasion == .always || (occasion == .success) == (status == .success), let json = event.withLock({ $0 })
    else { return }
    let wasStopped = session.signals.received != nil
    session.signals.listen { [signals = session.signals] in signals.end(status.rawValue) }
    let left = end.map { max($0 - session.world.uptime(), Self.shortLimit) } ?? Self.limit
    do throws(Failure) {
      try await hook.post(
        json, session.storeOptions, within: wasStopped ? Self.shortLimit : min(left, Self.limit), session.world)
    } catch {
      session.console.line(
        "s3up: --notify: \(SafeText.oneLine(error.message.commandText)); the notification was not delivered")
    }
  }
}
