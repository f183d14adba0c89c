extension UploadInput {
  /// Opens the file or the stream, or starts the command.
  func open(_ options: UploadOptions, concurrency: Int, world: World) throws(Failure) -> UploadSource {
    switch kind {
    case .file(let path):
      return .file(try SourceFile(path))
    case .entry(let file, let followsLinks):
      return .file(try SourceFile(file, followsLinks: followsLinks))
    case .descriptor(let descriptor, let name, let owns):
      if let file = try SourceFile(open: descriptor, name: FilePath(name)) { return .file(file) }
      return try stream(descriptor, owns: owns, name, .unknown, options, concurrency)
    case .named(let path):
      if let file = try StreamFile.openFile(path) { return .file(file) }
      // Standard input is not closed: other processes may share it.
      if StreamFile.isStandardInput(path) {
        return try stream(0, owns: false, StreamFile.title(of: path).text, .unknown, options, concurrency)
      }
      return try stream(StreamFile.open(path), owns: true, path.text, .unknown, options, concurrency)
    case .command(let words, let errors):
      let process = try ProducerProcess(words, group: .fitting(), errors: errors)
      return try stream(
        process.takeDescriptor(), owns: true, process.command, .command(process), options, concurrency)
    case .chunks(let name, let fill):
      let (feed, reading) = try StreamFeed.open(world)
      return try stream(reading, owns: true, name, .feeder(StreamFeeder(feed, fill)), options, concurrency)
    }
  }

  private func stream(
    _ descriptor: Int32, owns: Bool, _ name: String, _ producer: UploadStream.Producer, _ options: UploadOptions,
    _ concurrency: Int
  ) throws(Failure) -> UploadSource {
    let plan =
      if let plan = options.streamPlan {
        plan
      } else {
        try StreamPlan(
          partSize: options.partSize, expectedSize: options.expectedSize, equalParts: options.equalParts)
      }
    let source = try StreamSource(
      descriptor: descriptor, owns: owns, plan: plan, ring: PartRing(plan: plan, concurrency: concurrency), name: name,
      hashes: options.expectedSHA256 != nil)
    let expectations = UploadStream.Expectations(
      size: options.expectedSize, leastSize: options.leastSize, mostSize: options.mostSize,
      sha256: options.expectedSHA256)
    return .stream(UploadStream(name: name, source: source, filledBy: producer, expectations: expectations))
  }
}
