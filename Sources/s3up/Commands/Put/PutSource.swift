import Glibc
import MultipartCore

/// What `put` reads: a file, standard input or a pipe, or the output of a command.
enum PutSource {
  case file(Argument)
  /// `-`, or the path of another descriptor: an open regular file is read as a file, anything else as a stream.
  case descriptor(Argument)
  case stream(Argument)
  case command([Argument])

  /// The name for display.
  var name: Argument {
    switch self {
    // A web address, which is no file, may contain a signature.
    case .file(let name) where S3URL.isWeb(name): Argument(Redaction.url(name.text))
    case .file(let name), .descriptor(let name), .stream(let name): name
    case .command(let words): words.first ?? ""
    }
  }

  /// The source and the destination from the arguments.
  static func read(_ invocation: Invocation) throws(Failure) -> (source: PutSource, target: S3URL) {
    if invocation.toggle(.fromCommand) == true { return try readCommand(invocation.positionals) }
    let words = try invocation.arguments("FILE", "s3://BUCKET/KEY")
    try invocation.checkOrder(words)
    // Checked first: that it is a folder says more than that it provides no name.
    let source = try PutSource(words[0], invocation)
    let url = try S3URL(words[1], for: invocation.command)
    // `<(…)` of a shell is /dev/fd/63, which is no name for an object.
    if case .descriptor(let word) = source { return (source, try url.unnamed("'\(word.text)'")) }
    return (source, try url.destination(for: words[0], invocation.oddNames))
  }

  private init(_ word: Argument, _ invocation: Invocation) throws(Failure) {
    let path = FilePath(bytes: word.bytes)
    if path.isFolder {
      throw ManySources.folder(
        word, invocation.command.rawValue, invocation.positionals.last.flatMap { try? S3URL($0) })
    }
    let isOpen = path.namesDescriptor
    self = isOpen ? .descriptor(word) : path.isStream ? .stream(word) : .file(word)
  }

  /// The source of an upload whose destination is named by a ticket.
  static func alone(_ invocation: Invocation) throws(Failure) -> PutSource {
    let words = invocation.positionals
    if let wrong = words.first(where: S3URL.looksLike), invocation.toggle(.fromCommand) != true {
      throw Failure(
        .usage, "'\(wrong.text)': a ticket has its own destination",
        remedy: "Write s3up put FILE --ticket TICKET.")
    }
    if invocation.toggle(.fromCommand) == true {
      guard !words.isEmpty else {
        throw Failure(
          .usage, "--from-command wants a command",
          remedy: "Write s3up put --ticket TICKET --from-command -- CMD ARG...")
      }
      return .command(words)
    }
    return try PutSource(try invocation.arguments("FILE")[0], invocation)
  }

  private static func readCommand(_ words: [Argument]) throws(Failure) -> (source: PutSource, target: S3URL) {
    guard let first = words.first, S3URL.looksLike(first), words.count > 1 else {
      throw Failure(
        .usage, "--from-command wants a destination and a command",
        remedy: "Write s3up put --from-command s3://BUCKET/KEY -- CMD ARG...")
    }
    return (.command(Array(words.dropFirst())), try S3URL.object(first).unnamed("a command's output"))
  }

  var isCommand: Bool {
    if case .command = self { true } else { false }
  }

  /// The library's input; `errors` receives a command's standard error; nil: this process's.
  func input(errors: Int32?) -> UploadInput {
    switch self {
    case .file(let name): .file(FilePath(bytes: name.bytes))
    case .descriptor(let name), .stream(let name): .path(FilePath(bytes: name.bytes))
    case .command(let words): .command(words.map(\.bytes), errors: errors)
    }
  }
}
