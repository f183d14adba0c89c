import Glibc
import MultipartCore

/// What `put` reads: a file, standard input or a pipe, or what a command prints.
enum PutSource {
  case file(Argument)
  /// `-`, or the name of another descriptor: a regular file that is open there is read as a file, all else as a stream.
  case descriptor(Argument)
  case stream(Argument)
  case command([Argument])

  /// As it is shown.
  var name: Argument {
    switch self {
    case .file(let name), .descriptor(let name), .stream(let name): name
    case .command(let words): words.first ?? ""
    }
  }

  /// The source and the destination that the words name.
  static func read(_ invocation: Invocation) throws(Failure) -> (source: PutSource, target: S3URL) {
    if invocation.toggle(.fromCommand) == true { return try readCommand(invocation.positionals) }
    try refuseMany(invocation.positionals)
    let words = try invocation.arguments("FILE", "s3://BUCKET/KEY")
    guard !S3URL.looksLike(words[0]) else {
      throw Failure(
        .usage, "'\(words[0].text)' is not a file", remedy: "The file comes first: s3up put FILE s3://BUCKET/KEY")
    }
    let target = try S3URL(words[1]).destination(for: words[0])
    let path = FilePath(bytes: words[0].bytes)
    let isOpen = StreamFile.namesDescriptor(path)
    return (isOpen ? .descriptor(words[0]) : StreamFile.isStream(path) ? .stream(words[0]) : .file(words[0]), target)
  }

  /// Several files before one destination, as cp takes them.
  private static func refuseMany(_ words: [Argument]) throws(Failure) {
    guard words.count > 2, let last = words.last, S3URL.looksLike(last),
      !words.dropLast().contains(where: S3URL.looksLike)
    else { return }
    let files = words.count <= 5 ? words.dropLast().map { ShellWord.quoted($0.text) }.joined(separator: " ") : "FILE..."
    let target = ShellWord.quoted(last.text.utf8.last == UInt8(ascii: "/") ? last.text : last.text + "/")
    throw Failure(
      .usage, "put uploads one file in a run, and these are \(words.count - 1)",
      remedy: "Take a loop: for f in \(files); do s3up put \"$f\" \(target); done")
  }

  private static func readCommand(_ words: [Argument]) throws(Failure) -> (source: PutSource, target: S3URL) {
    guard let first = words.first, S3URL.looksLike(first), words.count > 1 else {
      throw Failure(
        .usage, "--from-command wants a destination and a command",
        remedy: "Write s3up put --from-command s3://BUCKET/KEY -- CMD ARG...")
    }
    return (.command(Array(words.dropFirst())), try S3URL.object(first))
  }

  /// Opens the file or stream, or starts the command, whose words go where `words` says, or to standard error.
  func open(
    _ transfer: TransferOptions, _ integrity: IntegrityOptions, words: ProducerWords? = nil
  ) throws(Failure) -> UploadSource {
    switch self {
    case .file(let name): return .file(try SourceFile(FilePath(bytes: name.bytes)))
    case .descriptor(let name):
      let path = FilePath(bytes: name.bytes)
      if let file = try StreamFile.openFile(path) { return .file(file) }
      guard name.bytes == [UInt8(ascii: "-")] else { return try stream(name, transfer, integrity) }
      return try stream(
        STDIN_FILENO, owns: false, name: StreamFile.title(of: path).text, producer: nil, transfer, integrity)
    case .stream(let name): return try stream(name, transfer, integrity)
    case .command(let command):
      let errors = words?.begin()
      defer { errors.map { _ = close($0) } }
      let producer = try ProducerProcess(command.map(\.bytes), group: .fitting(), errors: errors)
      return try stream(
        producer.takeDescriptor(), owns: true, name: producer.command, producer: producer, transfer, integrity)
    }
  }

  private func stream(
    _ name: Argument, _ transfer: TransferOptions, _ integrity: IntegrityOptions
  ) throws(Failure) -> UploadSource {
    try stream(
      StreamFile.open(FilePath(bytes: name.bytes)), owns: true, name: name.text, producer: nil, transfer, integrity)
  }

  private func stream(
    _ descriptor: Int32, owns: Bool, name: String, producer: ProducerProcess?,
    _ transfer: TransferOptions, _ integrity: IntegrityOptions
  ) throws(Failure) -> UploadSource {
    let plan = try StreamPlan(
      partSize: transfer.partSize, expectedSize: integrity.expectSize, equalParts: transfer.equalParts)
    let source = try StreamSource(
      descriptor: descriptor, owns: owns, plan: plan, ring: PartRing(plan: plan, concurrency: transfer.concurrency),
      name: name, hashes: integrity.expectSHA256 != nil)
    let expectations = UploadStream.Expectations(
      size: integrity.expectSize, leastSize: integrity.minSize, sha256: integrity.expectSHA256)
    return .stream(UploadStream(name: name, source: source, producer: producer, expectations: expectations))
  }
}
