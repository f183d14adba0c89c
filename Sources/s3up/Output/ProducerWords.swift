import Glibc
import MultipartBasics
import MultipartCore

/// What a command writes to its standard error while a progress line is drawn there: it is read through a pipe, and
/// shown line by line above the progress line.
final class ProducerWords: Sendable {
  private struct State {
    var reading: Int32 = -1
    var lines = WordLines()
  }

  private static let patience: Duration = .milliseconds(300)

  private let console: Console
  private let state = Locked(State())

  init(_ console: Console) { self.console = console }

  deinit { end() }

  /// The write end for the command, which the caller closes; nil if no pipe could be created.
  func begin() -> Int32? {
    guard let pipe = Pipe() else { return nil }
    // Only the reading end: the command does not expect a non-blocking one.
    _ = fcntl(pipe.reading, F_SETFL, O_NONBLOCK)
    state.withLock { $0.reading = pipe.reading }
    Task { [weak self] in
      while let self, self.read() {
        guard (try? await World.sleep(.milliseconds(50))) != nil else { return }
      }
    }
    return pipe.writing
  }

  /// Shows the rest after the command has ended. Processes that it left running may keep the pipe open forever.
  func end() {
    _ = read()
    state.withLock { state in
      show(state.lines.rest())
      if state.reading >= 0 { close(state.reading) }
      state.reading = -1
    }
  }

  /// Reads what is available; false at the end.
  private func read() -> Bool {
    state.withLock { state in
      guard state.reading >= 0 else { return false }
      var bytes = [UInt8](repeating: 0, count: 16 << 10)
      // Bounded, because a command may never stop writing; the rest is read next time.
      for _ in 0..<64 {
        let count = Glibc.read(state.reading, &bytes, bytes.count)
        if count > 0 {
          show(state.lines.take(bytes[..<count], at: .sinceBoot()))
        } else if count == 0 {
          return false
        } else if errno != EINTR {
          break
        }
      }
      show(state.lines.late(.sinceBoot(), patience: Self.patience))
      return true
    }
  }

  private func show(_ lines: [[UInt8]]) {
    for line in lines { console.raw(line) }
  }
}

/// Splits bytes into lines.
struct WordLines: Sendable {
  private var begun: [UInt8] = []
  private var since: Duration?
  /// Longer lines are shown in pieces.
  private static let longest = 64 << 10

  /// The lines that are now complete, without line endings.
  mutating func take(_ bytes: some Sequence<UInt8>, at now: Duration) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    for byte in bytes {
      if byte == 0x0A || begun.count >= Self.longest {
        lines.append(Self.seen(begun))
        begun = byte == 0x0A ? [] : [byte]
      } else {
        begun.append(byte)
      }
    }
    since = begun.isEmpty ? nil : now
    return lines
  }

  /// The incomplete line, if it is a prompt, which does not end with a newline but must be seen. A line that a command
  /// keeps redrawing is shown when it stops.
  mutating func late(_ now: Duration, patience: Duration) -> [[UInt8]] {
    guard let since, now - since >= patience, !begun.contains(0x0D) else { return [] }
    return rest()
  }

  mutating func rest() -> [[UInt8]] {
    defer { (begun, since) = ([], nil) }
    return begun.isEmpty ? [] : [Self.seen(begun)]
  }

  /// The last state of a redrawn line, which is what a terminal would show.
  private static func seen(_ line: [UInt8]) -> [UInt8] {
    var line = line[...]
    while line.last == 0x0D { line.removeLast() }
    return Array(line.lastIndex(of: 0x0D).map { line[($0 + 1)...] } ?? line)
  }
}
