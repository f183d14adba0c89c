/// A part of a stream, as it was read.
package struct StreamPiece: Sendable {
  package let part: StreamPart
  /// From 1.
  package let number: Int
  /// Where it lies in the stream.
  package let offset: Int64
  /// It is the whole stream, which ended within the first part: one PutObject does.
  package let isShort: Bool
}

/// Reads a stream into part buffers: standard input, a named pipe, a process substitution, a socket, a device, or a
/// regular file that is given as standard input.
///
/// A thread of its own reads, for a pipe can be silent for hours and the threads that run tasks are few. It fills a
/// buffer when `next` asks for a part, so that not more is in memory than the ring allows, and can be stopped at any
/// moment.
///
///     let source = try StreamSource(descriptor: 0, owns: false, plan: plan, ring: ring)
///     while let piece = try await source.next() { … piece.part.release() }
package final class StreamSource: Sendable {
  package let plan: StreamPlan
  package let ring: PartRing
  private let desk: StreamDesk
  private let thread: OwnThread
  private let nextNumber = Locked(1)

  /// `owns`: the descriptor is closed when reading ends, for whatever reason, and also when this throws. `name` is what
  /// a failure calls the source; `hashes` asks for the SHA-256 of the whole.
  package init(
    descriptor: Int32, owns: Bool, plan: StreamPlan, ring: PartRing, name: String = "standard input",
    hashes: Bool = false
  ) throws(Failure) {
    self.plan = plan
    self.ring = ring
    // First, for from here on it closes what is owned.
    let input = try StreamInput(descriptor, owns: owns, name: name)
    let desk = try StreamDesk()
    let reader = try StreamReader(desk: desk, input: input, name: name, partCount: plan.partCount, hashes: hashes)
    self.desk = desk
    thread = try OwnThread.start { reader.run() }
  }

  deinit {
    stop()
    thread.join()
  }

  /// Bytes that came in so far; one of them may be ahead of the last part.
  package var bytesRead: Int64 { desk.bytesRead }

  /// The SHA-256 of the whole stream; nil before its end was read, or when it was not asked for.
  package var sha256: Checksum? {
    if case .success(let sum)? = desk.over { sum } else { nil }
  }

  /// The next part: full ones and a last shorter one; nil at the end. An empty stream is one empty part. Waits for
  /// input and for memory. A failure to read is for good, and a cancelled task stops the source.
  ///
  /// One at a time asks; a second one gets an error.
  package func next() async throws(Failure) -> StreamPiece? {
    switch desk.over {
    case .failure(let failure)?: throw failure
    case .success?: return nil
    case nil: break
    }
    let number = nextNumber.withLock { $0 }
    let size = plan.size(ofPart: number)
    let result: Result<StreamPiece?, Failure> = await withTaskCancellationHandler {
      do throws(Failure) {
        return .success(try await read(number, size: size))
      } catch {
        return .failure(error)
      }
    } onCancel: {
      stop()
    }
    let piece = try result.get()
    nextNumber.withLock { $0 = number + 1 }
    return piece
  }

  /// Ends reading at once, from any thread; whoever waits gets an error. Parts that were given out stay good.
  package func stop() {
    desk.stop()
    ring.stop()
  }

  /// The same, for this reason: whoever waits, or comes for more, is told it.
  func fail(_ failure: Failure) {
    desk.stop(failure)
    ring.stop()
  }

  private func read(_ number: Int, size: Int64) async throws(Failure) -> StreamPiece? {
    let buffer = try await buffer(size)
    let result = await withCheckedContinuation { continuation in
      desk.post(StreamDesk.Order(number: number, buffer: buffer, answer: continuation))
    }
    // Whoever ends up with no piece gives the buffer back by letting go of the part.
    let part = buffer.map { StreamPart(buffer: $0, length: Int64(Self.count(result)), ring: ring) }
    let fill = try result.get()
    if fill.ended { ring.retire() }
    guard let part, fill.count > 0 || number == 1 else { return nil }
    return StreamPiece(
      part: part, number: number, offset: plan.offset(ofPart: number), isShort: fill.ended && number == 1)
  }

  private func buffer(_ size: Int64) async throws(Failure) -> StreamBuffer? {
    guard size > 0 else { return nil }
    do throws(Failure) {
      return try await ring.acquire(size)
    } catch {
      throw desk.stop ?? error
    }
  }

  private static func count(_ result: Result<StreamDesk.Fill, Failure>) -> Int {
    if case .success(let fill) = result { fill.count } else { 0 }
  }
}
