import MultipartBasics

/// A part of a stream, as it was read.
struct StreamPiece: Sendable {
  let part: StreamPart
  /// The part's number, from 1.
  let number: Int
  /// The part's position in the stream.
  let offset: Int64
  /// Whether the stream ended within its first part, so that one PutObject is enough.
  let isShort: Bool
  /// Whether the stream ended with this part.
  let isEnd: Bool
}

/// Reads a stream into part buffers: standard input, a named pipe, a process substitution, a socket, a device, or a
/// regular file that is given as standard input.
///
/// It reads on its own thread, because a pipe can be silent for hours and there are few threads for tasks. A buffer is
/// filled when `next` asks for a part, so that memory stays within the ring's limit, and reading can be stopped at any
/// time.
///
///     let source = try StreamSource(descriptor: 0, owns: false, plan: plan, ring: ring)
///     while let piece = try await source.next() { … piece.part.release() }
final class StreamSource: Sendable {
  let plan: StreamPlan
  let ring: PartRing
  private let desk: StreamDesk
  private let thread: OwnThread
  private let nextNumber = Locked(1)

  /// `owns`: the descriptor is closed when reading ends for any reason, and also if this throws. `name` is for
  /// messages; `hashes` requests the SHA-256 of the whole stream.
  init(
    descriptor: Int32, owns: Bool, plan: StreamPlan, ring: PartRing, name: String = "standard input",
    hashes: Bool = false
  ) throws(Failure) {
    self.plan = plan
    self.ring = ring
    // First, because it then closes a descriptor that is owned.
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

  /// Bytes read so far; one of them may be beyond the last part.
  var bytesRead: Int64 { desk.bytesRead }

  /// The SHA-256 of the whole stream; nil before its end, or if it was not requested.
  var sha256: Checksum? {
    if case .success(let sum)? = desk.over { sum } else { nil }
  }

  /// The next part: full ones, and a shorter last one; nil at the end. An empty stream has one empty part. Waits for
  /// input and memory. A read error is final, and cancelling the task stops the source.
  ///
  /// Only one caller is allowed at a time; a second one gets an error.
  func next() async throws(Failure) -> StreamPiece? {
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

  /// Ends reading at once, from any thread; waiting callers get an error. Parts that were returned stay valid.
  func stop() {
    desk.stop()
    ring.stop()
  }

  /// Stops with this failure, which current and later callers get.
  func fail(_ failure: Failure) {
    desk.stop(failure)
    ring.stop()
  }

  private func read(_ number: Int, size: Int64) async throws(Failure) -> StreamPiece? {
    let buffer = try await buffer(size)
    let result = await withCheckedContinuation { continuation in
      desk.post(StreamDesk.Order(number: number, buffer: buffer, answer: continuation))
    }
    // If no caller gets the piece, releasing the part returns the buffer.
    let part = buffer.map { StreamPart(buffer: $0, length: Int64(Self.count(result)), ring: ring) }
    let fill = try result.get()
    if fill.ended { ring.retire() }
    guard let part, fill.count > 0 || number == 1 else { return nil }
    return StreamPiece(
      part: part, number: number, offset: plan.offset(ofPart: number), isShort: fill.ended && number == 1,
      isEnd: fill.ended)
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
