import Glibc
import MultipartBasics

/// Runs a program without a shell and returns its standard output, within limits of time and size. If it exceeds them
/// it gets SIGTERM, then SIGKILL. It is always reaped, so that no zombie stays.
enum ProgramOutput {
  static let mostBytes = 1 << 20

  /// Runs the program, which inherits standard error. It inherits standard input only if that is a terminal: otherwise
  /// the bytes there may be the ones to upload.
  static func of(
    _ words: [[UInt8]], within limit: Duration, world: World
  ) async throws(Failure) -> [UInt8] {
    let deadline = world.uptime() + limit
    let process = try ProducerProcess(words, readsNothing: isatty(STDIN_FILENO) != 1)
    let reader = OutputReader(process.takeDescriptor(), process, deadline: deadline, uptime: world.uptime)
    let output = await withTaskCancellationHandler {
      await reader.read()
    } onCancel: {
      reader.stop()
    }
    guard case .success(let bytes) = output else {
      await process.terminate(grace: .seconds(2), in: world)
      return try output.get()
    }
    // The program has closed its output or exited; if it only closed it, it has the rest of the time to exit.
    let killer = Task {
      guard (try? await world.sleep(max(.zero, deadline - world.uptime()))) != nil else { return }
      process.kill()
    }
    defer { killer.cancel() }
    switch try await process.wait() {
    case .exited(0): return bytes
    case .exited(let code): throw Failure(.credentials, "it ended with exit code \(code)")
    case .signalled(let number): throw Failure(.credentials, "it was ended by signal \(number)")
    }
  }
}

/// Reads one pipe on its own thread, until the end of the pipe or of the program, the deadline, or the stop. Owns the
/// descriptor.
private final class OutputReader: Sendable {
  /// The interval in milliseconds at which it checks whether the program has exited while its child processes keep the
  /// pipe open.
  private static let tick: Int32 = 50

  private let descriptor: Int32
  private let process: ProducerProcess
  private let deadline: Duration
  private let uptime: @Sendable () -> Duration
  private let stops = Locked(false)

  init(_ descriptor: Int32, _ process: ProducerProcess, deadline: Duration, uptime: @escaping @Sendable () -> Duration)
  {
    self.descriptor = descriptor
    self.process = process
    self.deadline = deadline
    self.uptime = uptime
  }

  deinit { close(descriptor) }

  func stop() { stops.withLock { $0 = true } }

  func read() async -> Result<[UInt8], Failure> {
    await withCheckedContinuation { continuation in
      do throws(Failure) {
        try OwnThread.start { continuation.resume(returning: self.readWhole()) }.detach()
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }

  private func readWhole() -> Result<[UInt8], Failure> {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      if stops.withLock({ $0 }) { return .failure(Failure(.interrupted, "it was stopped")) }
      guard uptime() < deadline else { return .failure(Failure(.credentials, "it took too long")) }
      // Checked before reading, so that the last output is not missed.
      let ended = process.end != nil
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&watched, 1, ended ? 0 : Self.tick)
      if ready == 0, ended { return .success(bytes) }
      guard ready > 0 else { continue }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return .success(bytes) }
      bytes += chunk[..<count]
      guard bytes.count <= ProgramOutput.mostBytes else {
        return .failure(Failure(.credentials, "its output is too long"))
      }
    }
  }
}
