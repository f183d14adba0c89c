import Glibc
import MultipartBasics

/// Runs a program without a shell and returns its standard output, within limits of time and size. If it exceeds them
/// it gets SIGTERM, then SIGKILL. It is always reaped, so that no zombie stays.
enum ProgramOutput {
  static let mostBytes = 1 << 20

  /// Runs the program in our group: a signal to the group (`timeout`, a terminal) is meant for it too. It inherits
  /// standard error, and standard input only if that is a terminal: otherwise the bytes there may be the ones to upload.
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
    switch try await process.wait() {
    case .exited(0): return bytes
    case .exited(let code): throw Failure(.credentials, "it ended with exit code \(code)")
    case .signalled(let number): throw Failure(.credentials, "it was ended by signal \(number)")
    }
  }
}

/// Reads one pipe on its own thread, until the program has exited, the deadline, or the stop. Owns the descriptor.
private final class OutputReader: Sendable {
  /// The intervals in milliseconds at which it checks whether the program has exited: while its child processes keep
  /// the pipe open, and once the pipe is closed, because then it is mostly about to exit.
  private static let tick: Int32 = 50
  private static let lastTick: Int32 = 5

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
    var isClosed = false
    while true {
      if stops.withLock({ $0 }) { return .failure(Failure(.interrupted, "it was stopped")) }
      guard uptime() < deadline else { return .failure(Failure(.credentials, "it took too long")) }
      // Checked before reading, so that the last output is not missed.
      let ended = process.end != nil
      if isClosed {
        if ended { return .success(bytes) }
        poll(nil, 0, Self.lastTick)
        continue
      }
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&watched, 1, ended ? 0 : Self.tick)
      if ready == 0, ended { return .success(bytes) }
      guard ready > 0 else { continue }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        isClosed = true
        continue
      }
      bytes += chunk[..<count]
      guard bytes.count <= ProgramOutput.mostBytes else {
        return .failure(Failure(.credentials, "its output is too long"))
      }
    }
  }
}
