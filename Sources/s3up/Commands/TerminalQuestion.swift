import Glibc
import MultipartBasics
import MultipartCore

/// Asks a person, on the process's terminal (`/dev/tty`), for something secret: standard input may be the data, and
/// standard error a log. Echo is off while it waits, and restored in every case.
struct TerminalQuestion: Sendable {
  private static let patience = Duration.seconds(120)
  private static let tick = Duration.milliseconds(50)

  let world: World
  let signals: Signals

  func ask(_ prompt: String) async throws(Failure) -> Secret {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { throw Self.nobody("no terminal to ask on") }
    defer { close(terminal) }
    // A background job that asks would be stopped.
    guard tcgetpgrp(terminal) == getpgrp() else { throw Self.nobody("no terminal to ask on from the background") }
    var before = termios()
    guard tcgetattr(terminal, &before) == 0 else { throw Self.nobody("no terminal to ask on") }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO)
    let known = before
    let restore: @Sendable () -> Void = {
      // In the background the terminal belongs to another job, and the shell has set its modes.
      guard tcgetpgrp(terminal) == getpgrp() else { return }
      var known = known
      tcsetattr(terminal, TCSADRAIN, &known)
    }
    signals.beforeExit(restore)
    // Keeps what was typed ahead.
    guard tcsetattr(terminal, TCSADRAIN, &silent) == 0 else { throw Self.nobody("no terminal whose echo can be off") }
    defer {
      restore()
      signals.beforeExit(nil)
      _ = WholeWrite.write([0x0A], to: terminal)
    }
    _ = WholeWrite.write(Array(SafeText.oneLine(prompt).utf8), to: terminal)
    return try await line(terminal)
  }

  /// Reads a line; the terminal returns whole lines.
  private func line(_ terminal: Int32) async throws(Failure) -> Secret {
    let deadline = world.uptime() + Self.patience
    while world.uptime() < deadline {
      var watched = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      // In the background the typed line belongs to another job: a read would fail, because the pool's threads block
      // SIGTTIN.
      if tcgetpgrp(terminal) == getpgrp(), poll(&watched, 1, 0) > 0 {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(terminal, &bytes, bytes.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Self.nobody("no answer") }
        return Secret(String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self))
      }
      guard (try? await world.sleep(Self.tick)) != nil else {
        throw Failure(.interrupted, "interrupted while waiting for a code")
      }
    }
    throw Self.nobody("no answer within \(Self.patience.components.seconds) s")
  }

  private static func nobody(_ what: String) -> Failure {
    Failure(
      .credentials, "the profile's role needs a code, and there is \(what)",
      remedy: "run it on a terminal, or give it credentials that need no code")
  }
}
