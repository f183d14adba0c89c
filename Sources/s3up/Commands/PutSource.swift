import MultipartCore

/// What `put` reads: a file, standard input or a pipe, or what a command prints.
enum PutSource {
  case file(Argument)
  case stream(Argument)
  case command([Argument])

  /// As it is shown.
  var name: Argument {
    switch self {
    case .file(let name), .stream(let name): name
    case .command(let words): words.first ?? ""
    }
  }

  /// The source and the destination that the words name.
  static func read(_ invocation: Invocation) throws(Failure) -> (source: PutSource, target: S3URL) {
    if invocation.toggle(.fromCommand) == true { return try readCommand(invocation.positionals) }
    let words = try invocation.arguments("FILE", "s3://BUCKET/KEY")
    guard !S3URL.looksLike(words[0]) else {
      throw Failure(
        .usage, "'\(words[0].text)' is not a file", hint: "The file comes first: s3up put FILE s3://BUCKET/KEY")
    }
    let target = try S3URL(words[1]).destination(for: words[0])
    if words[0].bytes == [UInt8(ascii: "-")] || StreamFile.isStream(FilePath(bytes: words[0].bytes)) {
      return (.stream(words[0]), target)
    }
    return (.file(words[0]), target)
  }

  private static func readCommand(_ words: [Argument]) throws(Failure) -> (source: PutSource, target: S3URL) {
    guard let first = words.first, S3URL.looksLike(first), words.count > 1 else {
      throw Failure(
        .usage, "--from-command wants a destination and a command",
        hint: "Write s3up put --from-command s3://BUCKET/KEY -- CMD ARG...")
    }
    return (.command(Array(words.dropFirst())), try S3URL.object(first))
  }

  /// Opens the file or stream, or starts the command.
  func open(_ transfer: TransferOptions, _ integrity: IntegrityOptions) throws(Failure) -> UploadSource {
    switch self {
    case .file(let name): return .file(try SourceFile(FilePath(bytes: name.bytes)))
    case .stream(let name):
      let isInput = name.bytes == [UInt8(ascii: "-")]
      let descriptor = isInput ? 0 : try StreamFile.open(FilePath(bytes: name.bytes))
      let length = integrity.expectSize ?? StreamFile.remaining(descriptor)
      return try stream(
        descriptor, owns: !isInput, name: isInput ? "standard input" : name.text, producer: nil, length: length,
        transfer, integrity)
    case .command(let words):
      let producer = try ProducerProcess(words.map(\.bytes))
      return try stream(
        producer.takeDescriptor(), owns: true, name: producer.command, producer: producer,
        length: integrity.expectSize, transfer, integrity)
    }
  }

  private func stream(
    _ descriptor: Int32, owns: Bool, name: String, producer: ProducerProcess?, length: Int64?,
    _ transfer: TransferOptions, _ integrity: IntegrityOptions
  ) throws(Failure) -> UploadSource {
    let plan = try StreamPlan(
      partSize: transfer.partSize, expectedSize: length, equalParts: transfer.equalParts)
    let source = try StreamSource(
      descriptor: descriptor, owns: owns, plan: plan, ring: PartRing(plan: plan, concurrency: transfer.concurrency),
      name: name, hashes: integrity.expectSHA256 != nil)
    let expectations = UploadStream.Expectations(
      size: integrity.expectSize, leastSize: integrity.minSize, sha256: integrity.expectSHA256)
    return .stream(UploadStream(name: name, source: source, producer: producer, expectations: expectations))
  }
}
