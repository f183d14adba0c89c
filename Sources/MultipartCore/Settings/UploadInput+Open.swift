extension UploadInput {
  /// Opens the file; nil if it can only be read as a stream.
  func openFile() throws(Failure) -> SourceFile? {
    switch kind {
    case .file(let path): try SourceFile(path)
    case .entry(let file, let followsLinks): try SourceFile(file, followsLinks: followsLinks)
    case .descriptor(let descriptor, let name, _): try SourceFile(open: descriptor, name: FilePath(name))
    case .named(let path): try StreamFile.openFile(path)
    case .command, .chunks: nil
    }
  }

  /// Opens the file or the stream, or starts the command.
  func open(_ options: UploadOptions, concurrency: Int, world: World) throws(Failure) -> UploadSource {
    if let file = try openFile() { return .file(file) }
    switch kind {
    case .descriptor(let descriptor, let name, let owns):
      return try stream(descriptor, owns: owns, name, .unknown, options, concurrency)
    case .named, .file, .entry:
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
    return .stream(
      UploadStream(name: name, source: source, filledBy: producer, expectations: SourceExpectations(options)))
  }
}
