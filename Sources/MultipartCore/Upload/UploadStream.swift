import MultipartBasics

/// A stream as the source of an upload: its parts in memory, and the conditions to check at its end.
final class UploadStream: Sendable {
  let name: String
  let source: StreamSource
  private let producer: Producer
  private let expectations: SourceExpectations
  private let pieces = Locked<[Int: StreamPart]>([:])
  private static let grace = Duration.seconds(2)

  /// The producer of the stream, if this process knows it: the stream is complete only if the producer has succeeded.
  enum Producer: Sendable {
    case unknown
    case command(ProducerProcess)
    case feeder(StreamFeeder)

    fileprivate var isKnown: Bool {
      if case .unknown = self { false } else { true }
    }

    /// Waits for the producer's end; nil if it has succeeded.
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

  convenience init(
    name: String, source: StreamSource, producer: ProducerProcess? = nil,
    expectations: SourceExpectations = SourceExpectations()
  ) {
    self.init(
      name: name, source: source, filledBy: producer.map { .command($0) } ?? .unknown, expectations: expectations)
  }

  init(name: String, source: StreamSource, filledBy producer: Producer, expectations: SourceExpectations) {
    self.name = name
    self.source = source
    self.producer = producer
    self.expectations = expectations
  }

  /// Reports a failed command at once, even if a process that it started keeps the pipe open: its output will not be
  /// published. After a success, such a process may still have output.
  func onFailure(_ tell: @escaping @Sendable (Failure) -> Void) {
    guard producer.isKnown else { return }
    Task { [source, producer] in
      guard let failure = await producer.failure() else { return }
      source.fail(failure)
      tell(failure)
    }
  }

  /// Reads the next part, which stays in memory until the store has confirmed it.
  func read() async -> UploadMachine.Event {
    do throws(Failure) {
      guard let piece = try await source.next() else { return .ended }
      if !piece.isEnd, let failure = expectations.excess("the stream", of: source.bytesRead) {
        piece.part.release()
        return .readFailed(failure)
      }
      // At the end of the stream a command may just be failing: then the rest is not worth sending.
      if piece.isEnd, let failure = await producer.failure() {
        piece.part.release()
        return .readFailed(failure)
      }
      pieces.withLock { $0[piece.number] = piece.part }
      return .piece(size: piece.part.length, isLast: piece.isShort)
    } catch {
      if error.code == .usage, let most = expectations.ticketLength?.most {
        return .readFailed(SourceExpectations.tooLong("the stream", most))
      }
      return .readFailed(error)
    }
  }

  func piece(_ number: Int) -> StreamPart? {
    pieces.withLock { $0[number] }
  }

  func release(_ number: Int) {
    pieces.withLock { $0.removeValue(forKey: number) }?.release()
  }

  /// A warning before the last of 10,000 parts: how much longer the stream may be, and what to do. If the length is
  /// bounded, the parts were chosen for it, and there is no warning.
  func warning(after number: Int) -> Wording? {
    let plan = source.plan
    guard number == plan.warningPart, expectations.ticketLength == nil else { return nil }
    return "the stream is close to what its parts can hold: \(plan.remaining(afterPart: number) >> 30) GiB are left; "
      + "a longer one needs a larger \(.partSize), or its \(.expectedSize), from the start"
  }

  /// Judges whether the stream may be published: the command has succeeded, and the stream meets the expectations.
  func judge() async -> Failure? {
    if let failure = await producer.failure() { return failure }
    return expectations.failure("the stream", of: source.bytesRead)
      ?? expectations.failure("the stream", of: source.sha256)
  }

  /// Throws if what is to be published is not as long as what was read. No step may drop a piece, so that is a bug of
  /// this program, and the last chance to notice it.
  func requireWhole(_ size: Int64) throws(Failure) {
    guard size != source.bytesRead else { return }
    var failure = Failure(
      .dataMismatch, "the parts have \(size) bytes, but \(source.bytesRead) were read from the stream",
      remedy: "nothing was published: report this as a bug, and send the stream again")
    failure.isSettled = true
    throw failure
  }

  /// Ends reading, and the command with everything in its group; returns once that has ended.
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

  /// Called after the stream was published.
  func letGo() {
    source.stop()
    if case .command(let process) = producer { process.letGo() }
  }

  /// Kills the command, because the process ends now.
  func kill() {
    if case .command(let process) = producer { process.kill() }
  }
}
