package import Foundation
import MultipartBasics

/// A program that a test runs: pipes to its three streams, a thread that serves them, and another that waits for its end.
///
/// The child gets only the given environment, no descriptor above 2, no blocked or ignored signals, and its own process
/// group, so that a timeout ends its children too.
package final class ChildProcess: Sendable {
  package struct Result: Sendable {
    /// The exit code; nil if a signal ended it.
    package var status: Int32?
    package var signal: Int32?
    package var stdout: [UInt8] = []
    package var stderr: [UInt8] = []
    package var timedOut = false
    /// The peak in bytes; see `Watch.wait`.
    package var peakMemory = 0
    package var seconds = 0.0
    /// Recorded by a thread that nothing delays: the tests' own threads may be busy when the child ends.
    package var endedAt = ContinuousClock.now
    package var cpuSeconds = 0.0

    package var output: String { String(decoding: stdout, as: UTF8.self) }
    package var errors: String { String(decoding: stderr, as: UTF8.self) }
    package var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  package enum Input: Sendable {
    case none
    case bytes([UInt8])
    case file(String)
    /// A pipe that stays open and empty until `closeInput`.
    case open
  }

  package let pid: pid_t
  private let input: Int32
  private let state: Guarded<State>
  private let writing = NSLock()

  private struct State: Sendable {
    var result = Result()
    var ended = false
    /// The number of the child's open streams that the test reads.
    var streams = 2
    var inputOpen: Bool
    var waiters: [CheckedContinuation<Result, Never>] = []
    var onEnd: (@Sendable (Result) -> Void)?

    var complete: Bool { ended && streams == 0 }
  }

  /// With `onLine`, lines of standard output go there as they arrive, and are not kept for the result.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String], directory: String? = nil,
    input: Input = .none, onLine: (@Sendable ([UInt8]) -> Void)? = nil, onEnd: (@Sendable (Result) -> Void)? = nil
  ) throws {
    let out = try makePipe()
    let err = try makePipe()
    let from: (read: Int32, write: Int32)
    switch input {
    case .none: from = (open("/dev/null", O_RDONLY | O_CLOEXEC), -1)
    case .file(let path): from = (open(path, O_RDONLY | O_CLOEXEC), -1)
    case .bytes, .open: from = try makePipe()
    }
    guard from.read >= 0 else { throw SystemError("open") }
    let began = ContinuousClock.now
    pid = try Spawn.run(
      program, arguments, environment: environment, directory: directory,
      streams: [from.read, out.write, err.write])
    // The peak is read after the spawn, because this process may grow until the child's exec.
    let ownPeak = Watch.peak(of: getpid())
    for end in [from.read, out.write, err.write] { close(end) }
    self.input = from.write
    state = Guarded(State(inputOpen: from.write >= 0, onEnd: onEnd))
    let (pid, state) = (pid, state)
    try PosixThread.start {
      if let onLine {
        Self.collectLines(out.read, state, onLine)
      } else {
        Self.collect(out.read, state) { bytes in state.with { $0.result.stdout += bytes } }
      }
    }.detach()
    try PosixThread.start {
      Self.collect(err.read, state) { bytes in state.with { $0.result.stderr += bytes } }
    }.detach()
    if case .bytes(let bytes) = input {
      let target = from.write
      try PosixThread.start {
        _ = Self.push(bytes, to: target)
        Self.closeInput(target, state)
      }.detach()
    }
    try PosixThread.start {
      let end = Watch.wait(pid, ownPeak: ownPeak)
      Self.change(state) { state in
        state.result.status = end.status
        state.result.signal = end.signal
        state.result.peakMemory = end.peak
        state.result.cpuSeconds = end.cpuSeconds
        state.result.endedAt = .now
        state.result.seconds = (state.result.endedAt - began) / .seconds(1)
        state.ended = true
      }
    }.detach()
  }

  deinit {
    closeInput()
    if !state.with({ $0.ended }) { kill(-pid, SIGKILL) }
  }

  /// Signals the process or its group; no effect after it has ended.
  package func signal(_ number: Int32, group: Bool = false) {
    state.with { if !$0.ended { _ = kill(group ? -pid : pid, number) } }
  }

  package var stdout: [UInt8] { state.with { $0.result.stdout } }
  package var stderr: [UInt8] { state.with { $0.result.stderr } }
  package var ended: Bool { state.with { $0.ended } }

  /// Writes to an input that was opened with `.open`, in one piece; false if the child no longer reads.
  @discardableResult
  package func write(_ bytes: [UInt8]) async -> Bool {
    await withCheckedContinuation { continuation in
      let thread = try? PosixThread.start { [self] in
        continuation.resume(returning: writing.withLock { Self.push(bytes, to: input) })
      }
      if let thread { thread.detach() } else { continuation.resume(returning: false) }
    }
  }

  package func closeInput() {
    Self.closeInput(input, state)
  }

  private static func closeInput(_ input: Int32, _ state: Guarded<State>) {
    state.with { state in
      guard state.inputOpen else { return }
      state.inputOpen = false
      close(input)
    }
  }

  /// The result, once the child has ended and its streams are closed; it is killed after `timeout`, not counting the time
  /// that the machine falls behind.
  package func wait(timeout: Duration = .seconds(600)) async -> Result {
    let killer = Task {
      let (began, lag) = (ContinuousClock.now, Lag())
      while case let left = timeout + lag.sofar - (ContinuousClock.now - began), left > .zero {
        try await Task.sleep(for: left)
      }
      state.with { state in
        guard !state.complete else { return }
        state.result.timedOut = true
        // This also ends grandchildren that are left and have its streams open.
        _ = kill(-pid, SIGKILL)
      }
      // Processes that have left the group continue, and may keep the streams open forever.
      try await Task.sleep(for: .seconds(5))
      Self.change(state) { $0.streams = 0 }
    }
    defer { killer.cancel() }
    return await withCheckedContinuation { continuation in
      let done = state.with { state -> Result? in
        if state.complete { return state.result }
        state.waiters.append(continuation)
        return nil
      }
      if let done { continuation.resume(returning: done) }
    }
  }

  private static func change(_ state: Guarded<State>, _ body: (inout State) -> Void) {
    let (complete, waiters) = state.with { state in
      body(&state)
      guard state.complete else { return (State?.none, [CheckedContinuation<Result, Never>]()) }
      defer { (state.waiters, state.onEnd) = ([], nil) }
      return (state, state.waiters)
    }
    guard let complete else { return }
    complete.onEnd?(complete.result)
    for waiter in waiters { waiter.resume(returning: complete.result) }
  }

  private static func collect(
    _ descriptor: Int32, _ state: Guarded<State>, _ take: (ArraySlice<UInt8>) -> Void
  ) {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      take(chunk[..<count])
    }
    close(descriptor)
    change(state) { $0.streams = max(0, $0.streams - 1) }
  }

  private static func collectLines(_ descriptor: Int32, _ state: Guarded<State>, _ onLine: ([UInt8]) -> Void) {
    var line: [UInt8] = []
    collect(descriptor, state) { bytes in
      var bytes = bytes
      while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        onLine(line + bytes[..<end])
        (line, bytes) = ([], bytes[(end + 1)...])
      }
      line += bytes
    }
  }

  private static func push(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { whole in
      var at = 0
      while at < whole.count, let base = whole.baseAddress {
        let count = Glibc.write(descriptor, base + at, whole.count - at)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        at += count
      }
      return true
    }
  }
}
