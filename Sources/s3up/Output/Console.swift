import Glibc
import MultipartBasics
import MultipartCore

/// Standard error, shared by everything that writes to it. On a terminal its last lines may be live ones that are
/// redrawn; to print any other line they are cleared and then drawn again below it. Write errors are ignored: a closed
/// terminal must not end an upload.
final class Console: Sendable {
  private struct State {
    /// The lines that are redrawn; the last one is shown without a newline at its end.
    var live: [String] = []

    /// Moves to the beginning of the first live line and erases everything from there: carriage return, "cursor up" and
    /// "erase in page" (ECMA-48).
    var clear: String {
      live.count > 1 ? "\r\u{1b}[\(live.count - 1)A\u{1b}[J" : "\r\u{1b}[K"
    }

    var drawn: String { live.joined(separator: "\n") }
  }

  private let state = Locked(State())
  private let write: @Sendable ([UInt8]) -> Void

  init(write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

  static func standardError() -> Console { Console { _ = WholeWrite.write($0, to: STDERR_FILENO) } }

  /// Prints one line; `text` needs no newline.
  func line(_ text: String) {
    state.withLock { state in
      guard !state.live.isEmpty else { return write(Array((text + "\n").utf8)) }
      write(Array((state.clear + text + "\n" + state.drawn).utf8))
    }
  }

  /// Prints a line byte for byte.
  func raw(_ bytes: [UInt8]) {
    state.withLock { state in
      write(Array((state.live.isEmpty ? "" : state.clear).utf8) + bytes + [0x0A] + Array(state.drawn.utf8))
    }
  }

  /// Redraws the live line; nil removes it.
  func live(_ text: String?) { live(text.map { [$0] } ?? []) }

  /// Redraws the live lines; an empty array removes them.
  func live(_ lines: [String]) {
    state.withLock { state in
      guard !lines.isEmpty || !state.live.isEmpty else { return }
      let clear = state.clear
      state.live = lines
      write(Array((clear + state.drawn).utf8))
    }
  }

  /// Runs `body`, which writes to the same terminal, while the live lines are removed.
  func withoutLive<Result, E: Error>(_ body: () throws(E) -> Result) throws(E) -> Result {
    try state.withLock { (state) throws(E) in
      guard !state.live.isEmpty else { return try body() }
      write(Array(state.clear.utf8))
      defer { write(Array(state.drawn.utf8)) }
      return try body()
    }
  }

  /// Sends a sequence that neither moves the cursor nor changes the text.
  func sign(_ sequence: String) {
    guard !sequence.isEmpty else { return }
    state.withLock { _ in write(Array(sequence.utf8)) }
  }

  /// Prints the last frame of the live line, which stays.
  func finishLive(_ text: String) {
    state.withLock { state in
      write(Array(((state.live.isEmpty ? "" : state.clear) + text + "\n").utf8))
      state.live = []
    }
  }
}

/// Standard streams, and queries of a terminal.
enum Descriptor {
  /// Ignores SIGPIPE: if a reader is gone, `write` must fail instead of a signal ending the process.
  static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Occupies the numbers of closed standard streams. Otherwise the next file or socket would get such a number, and
  /// messages would be written into it. The number is opened in the wrong direction, so that using the closed stream
  /// still fails: a closed input is not an empty stream. Without `/dev/null` (a chroot, a bare container) the root
  /// folder is used, by a descriptor that can be neither read nor written. Returns false if a number is still free.
  static func occupyStandardStreams() -> Bool {
    // Linux's O_PATH, which the C library defines only for GNU sources.
    let nameOnly: Int32 = 0o10_000_000
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      // `open` returns the lowest free number, which is this one.
      var taken = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      if taken < 0 { taken = open("/", nameOnly) }
      guard taken == descriptor else { return false }
    }
    return true
  }

  /// Closes a copy, to learn of errors. The descriptor itself stays open, so that its number is not reused. Returns 0,
  /// or the `errno` of the failed close.
  static func closeCopy(of descriptor: Int32) -> Int32 {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    // Without a free number nothing can be learned.
    guard copy >= 0, close(copy) != 0, errno != EINTR else { return 0 }
    return errno
  }

  /// Whether the terminal belongs to this process's job, or to no job: then nothing else writes to it.
  static func isInFront(_ descriptor: Int32) -> Bool {
    let owner = tcgetpgrp(descriptor)
    return owner < 0 || owner == getpgrp()
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Whether the terminal can do no more than print: without a kind, none of its abilities is known.
  static func isDumb(_ environment: [String: String]) -> Bool { ["", "dumb"].contains(environment["TERM"] ?? "") }

  /// The terminal's columns, else `COLUMNS`, else 80.
  static func columns(_ descriptor: Int32, environment: [String: String]) -> Int {
    var size = winsize()
    if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    if let columns = environment["COLUMNS"].flatMap({ Int($0, in: 1...10_000) }) { return columns }
    return 80
  }

  /// The terminal's rows, else 24.
  static func rows(_ descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0 ? Int(size.ws_row) : 24
  }
}
