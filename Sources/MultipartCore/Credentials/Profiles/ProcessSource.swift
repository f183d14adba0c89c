import MultipartBasics

/// Runs `credential_process`, a command that prints credentials as JSON. Its standard error is shown; its output
/// appears in no message, because it contains keys.
struct ProcessSource: ProfileSource {
  /// How long a command may take, including one that opens a browser and waits.
  static let timeLimit = Duration.seconds(60)

  func credentials(of view: ProfileView) async throws(Failure) -> Credentials? {
    guard let command = view["credential_process"] else { return nil }
    guard let words = CommandWords.split(command), let first = words.first, !first.isEmpty else {
      throw view.misconfigured("has a credential_process whose quotes are not closed, or that names no command")
    }
    let output: [UInt8]
    do throws(Failure) {
      output = try await ProgramOutput.of(words, within: Self.timeLimit, world: view.context.services.world)
    } catch {
      throw Self.failure(view, error.message, remedy: error.remedy)
    }
    let found = try Self.read(output, view)
    if let end = found.expiration, end <= view.context.services.world.now() {
      throw Failure(
        .credentialsExpired,
        "the credential_process of profile \(view.name) returned credentials that expired at \(end.iso8601)",
        remedy: "find out why it returns no new ones")
    }
    return found
  }

  private static func failure(_ view: ProfileView, _ what: Wording, remedy: Wording? = nil) -> Failure {
    Failure(
      .credentials, "the credential_process of profile \(view.name): \(what)",
      remedy: remedy ?? "run the command by hand, and see what it says")
  }

  private static func read(_ output: [UInt8], _ view: ProfileView) throws(Failure) -> Credentials {
    guard let answer = JSON.parse(output), case .object = answer else {
      throw failure(
        view, "its output is not a JSON object", remedy: "it must print Version, AccessKeyId and SecretAccessKey")
    }
    guard answer["Version"]?.integer == 1 else {
      throw failure(view, "its output is not of Version 1", remedy: "it must print \"Version\": 1")
    }
    for name in ["AccessKeyId", "SecretAccessKey"] where answer[name]?.text?.isEmpty != false {
      throw failure(view, "its output has no \(name)")
    }
    var end: Timestamp?
    if let written = answer["Expiration"], written != .null {
      guard let text = written.text, let moment = text.isEmpty ? nil : DateText.iso8601(text) else {
        throw failure(
          view, "its output has an invalid Expiration", remedy: "write it like 2030-01-31T12:00:00Z")
      }
      end = moment
    }
    do throws(Failure) {
      return try IssuedKeys.credentials(
        id: answer["AccessKeyId"]?.text, secret: answer["SecretAccessKey"]?.text,
        token: answer["SessionToken"]?.text, expiration: end, issuer: "the process",
        source: "credential_process of profile \(view.name)")
    } catch {
      throw failure(view, error.message)
    }
  }
}

/// Splits a command into words as AWS's tools do, without a shell: white space separates words, `'…'` is literal, in
/// `"…"` a backslash escapes `"` and `\`, and outside of quotes any character. Variables, `~` and patterns are not
/// expanded.
enum CommandWords {
  /// The words; nil if a quote is not closed or the last character is a backslash.
  static func split(_ text: String) -> [[UInt8]]? {
    var words: [[UInt8]] = []
    var word: [UInt8]?
    var quote: UInt8?
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch (quote, byte) {
      case (nil, 0x20), (nil, 0x09), (nil, 0x0A), (nil, 0x0D):
        if let done = word { words.append(done) }
        word = nil
      case (nil, UInt8(ascii: "'")), (nil, UInt8(ascii: "\"")):
        quote = byte
        word = word ?? []
      case (let open?, _) where open == byte: quote = nil
      case (nil, UInt8(ascii: "\\")):
        guard let next = rest.popFirst() else { return nil }
        word = (word ?? []) + [next]
      case (UInt8(ascii: "\""), UInt8(ascii: "\\")):
        guard let next = rest.popFirst() else { return nil }
        word = (word ?? []) + (next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") ? [next] : [byte, next])
      default: word = (word ?? []) + [byte]
      }
    }
    guard quote == nil else { return nil }
    if let done = word { words.append(done) }
    return words
  }
}
