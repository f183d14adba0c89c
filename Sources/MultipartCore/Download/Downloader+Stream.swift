import Glibc
import MultipartBasics

/// Downloads that are written in order.
extension Downloader {
  func openStream(
    _ target: StreamTarget, _ object: ObjectInfo, _ plan: RangePlan
  ) async throws(Failure) {
    let proof = known.withLock { $0.proof }
    let sums = try StreamSums(object, proof, size: plan.size)
    let sink: OrderedOutput.Sink
    switch target {
    case .descriptor(let given): sink = .descriptor(given, owns: false)
    case .path(let path): sink = .descriptor(try await openForWriting(path), owns: true)
    case .feed(let feed): sink = .feed(feed)
    case .command(let words, let errors):
      let command = try ProducerProcess(words, group: .own, errors: errors, end: .input)
      known.withLock { $0.command = command }
      sink = .descriptor(command.takeDescriptor(), owns: true)
    }
    let ordered = OrderedOutput(
      sink, count: plan.count, sums: sums, passedOn: { [weak self] in self?.post(.passedOn($0)) },
      failed: { [weak self] in self?.outputFailed($0) })
    known.withLock { $0.ordered = ordered }
  }

  private func outputFailed(_ failure: Failure) {
    Task { [self] in post(.outputFailed(await explained(failure))) }
  }

  /// The failure of a command that has stopped reading. As a rule it is just ending, and its exit status says more than
  /// its closed input.
  func explained(_ failure: Failure) async -> Failure {
    guard failure.underlying == .system(EPIPE), let command = known.withLock({ $0.command }) else { return failure }
    for _ in 0..<50 where command.end == nil { try? await world.sleep(.milliseconds(20)) }
    return command.end?.failure(of: command.command, end: .input)
      ?? Failure(
        .dataMismatch, "the command has stopped reading before it had the whole object", remedy: "see why it does"
      ).at(Place(file: command.command))
  }

  /// Opens a named pipe once it has a reader. The pipe is polled, because `open` would wait in the kernel, where it
  /// cannot be stopped.
  private func openForWriting(_ path: FilePath) async throws(Failure) -> Int32 {
    while true {
      let descriptor = path.withCString { Glibc.open($0, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
      if descriptor >= 0 {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return descriptor
      }
      let error = errno
      let isPipe = path.isKind(S_IFIFO)
      guard error == EINTR || (error == ENXIO && isPipe) else {
        throw DownloadTarget.failure(error, "the target cannot be opened", path)
      }
      guard !progress.isStopped, (try? await world.sleep(.milliseconds(20))) != nil else {
        throw Failure.interrupted
      }
    }
  }

  /// Passes on the last range; then a command has to succeed.
  func release(_ ordered: OrderedOutput) async throws(Failure) {
    guard let command = known.withLock({ $0.command }) else { return try await ordered.release() }
    do throws(Failure) {
      try await ordered.release()
    } catch {
      throw await explained(error)
    }
    ordered.closeOutput()
    if let failure = try await command.wait().failure(of: command.command, end: .input) { throw failure }
    command.letGo()
    known.withLock { $0.command = nil }
  }
}
