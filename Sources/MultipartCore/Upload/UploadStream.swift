/// A stream as the source of an upload: the pieces that are in memory, and what must be true at its end.
package final class UploadStream: Sendable {
  package struct Expectations: Sendable {
    package var size: Int64?
    package var leastSize: Int64?
    /// Lower-case hex.
    package var sha256: String?

    package init(size: Int64? = nil, leastSize: Int64? = nil, sha256: String? = nil) {
      self.size = size
      self.leastSize = leastSize
      self.sha256 = sha256
    }
  }

  package let name: String
  package let source: StreamSource
  private let producer: Producer
  private let expectations: Expectations
  private let pieces = Locked<[Int: StreamPart]>([:])
  private static let grace = Duration.seconds(2)

  /// Whoever fills the stream, where this process knows it: only after it has ended well is the end of the stream its end.
  enum Producer: Sendable {
    case unknown
    case command(ProducerProcess)
    case feeder(StreamFeeder)

    fileprivate var isKnown: Bool {
      if case .unknown = self { false } else { true }
    }

    /// Returns when it has ended; nil where it has ended well.
    fileprivate func failure() async -> Failure? {
      switch self {
      case .unknown: return nil
      case .feeder(let feeder): return await feeder.wait()
      case .command(let process):
        do throws(Failure) {
          return try await process.wait().failure(of: process.command, group: process.group)
        } catch {
          return error
        }
      }
    }
  }

  package convenience init(
    name: String, source: StreamSource, producer: ProducerProcess? = nil, expectations: Expectations = Expectations()
  ) {
    self.init(
      name: name, source: source, filledBy: producer.map { .command($0) } ?? .unknown, expectations: expectations)
  }

  init(name: String, source: StreamSource, filledBy producer: Producer, expectations: Expectations) {
    self.name = name
    self.source = source
    self.producer = producer
    self.expectations = expectations
  }

  /// A command that fails is told at once, however long something that it has started keeps the pipe open: nothing of
  /// it will be published. Of one that ends well, what it has started may still have something to say.
  func onFailure(_ tell: @escaping @Sendable (Failure) -> Void) {
    guard producer.isKnown else { return }
    Task.begin { [source, producer] in
      guard let failure = await producer.failure() else { return }
      source.fail(failure)
      tell(failure)
    }
  }

  /// The next piece stays in memory until the store has confirmed it.
  func read() async -> UploadMachine.Event {
    do throws(Failure) {
      guard let piece = try await source.next() else { return .ended }
      pieces.withLock { $0[piece.number] = piece.part }
      return .piece(size: piece.part.length, isLast: piece.isShort)
    } catch {
      return .readFailed(error)
    }
  }

  func piece(_ number: Int) -> StreamPart? {
    pieces.withLock { $0[number] }
  }

  func release(_ number: Int) {
    pieces.withLock { $0.removeValue(forKey: number) }?.release()
  }

  /// In time before the last of 10,000 parts: what a stream can still hold, and what to do about it.
  func warning(after number: Int) -> Wording? {
    let plan = source.plan
    guard number == plan.warningPart else { return nil }
    return "the stream nears what its parts can hold: \(plan.remaining(afterPart: number) >> 30) GiB are left; "
      + "a longer one needs a larger \(.partSize), or its \(.expectedSize), from the start"
  }

  /// Whether what was read may be published: the command has ended well, and the stream is what was expected.
  func judge() async -> Failure? {
    if let failure = await producer.failure() { return failure }
    let size = source.bytesRead
    if let wanted = expectations.size, wanted != size {
      return Failure(.dataMismatch, "the stream has \(size) bytes, not the \(wanted) that \(.expectedSize) names")
    }
    if let least = expectations.leastSize, size < least {
      return Failure(.dataMismatch, "the stream has \(size) bytes, less than the \(least) that \(.leastSize) names")
    }
    if let wanted = expectations.sha256, source.sha256?.hex != wanted {
      return Failure(
        .dataMismatch, "the stream's SHA-256 is \(source.sha256?.hex ?? "not known"), not the one that was expected")
    }
    return nil
  }

  /// Ends reading, and the command with all that it has started in its group; returns when that has ended.
  func stop(in world: World) async {
    source.stop()
    switch producer {
    case .unknown: break
    case .command(let process): await process.terminate(grace: Self.grace, in: world)
    case .feeder(let feeder):
      feeder.stop()
      _ = await feeder.wait()
    }
  }

  /// The stream was published.
  func letGo() {
    source.stop()
    if case .command(let process) = producer { process.letGo() }
  }

  /// The program ends now.
  package func kill() {
    if case .command(let process) = producer { process.kill() }
  }
}
