@preconcurrency import Glibc
import MultipartBasics

/// Runs `posix_spawnp` with what a shell would give a child: no blocked signals, SIGPIPE as it was before we ignored
/// it, and our other descriptors closed by FD_CLOEXEC.
enum ProducerSpawn {
  static func run(
    _ words: [[UInt8]], environment: [String: String]?, readsNothing: Bool = false, group: ProducerGroup = .ours,
    errors: Int32? = nil, end: PipeEnd = .output
  ) throws(Failure) -> (pid: pid_t, pipe: Int32) {
    keepExitStatuses()
    guard let pipe = Pipe() else { throw .noPipe }
    let (its, ours) = end == .output ? (pipe.writing, pipe.reading) : (pipe.reading, pipe.writing)
    defer { close(its) }
    var pid = pid_t()
    let status = spawn(words, environment, readsNothing, group, its, end, errors, &pid)
    guard status == 0 else {
      close(ours)
      throw failure(status, words).at(Place(file: String(decoding: words.first ?? [], as: UTF8.self)))
    }
    return (pid, ours)
  }

  private static func spawn(
    _ words: [[UInt8]], _ environment: [String: String]?, _ readsNothing: Bool, _ group: ProducerGroup, _ pipe: Int32,
    _ end: PipeEnd, _ errors: Int32?, _ pid: inout pid_t
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipe, end == .output ? STDOUT_FILENO : STDIN_FILENO)
    if let errors { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
    if readsNothing { posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    // Only the signal that this program ignores itself: one that was ignored at the start (nohup) stays ignored, and
    // exec resets those that have handlers.
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    if group == .own {
      posix_spawnattr_setpgroup(&attributes, 0)
      flags |= POSIX_SPAWN_SETPGROUP
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))

    return withCStrings(words) { arguments in
      guard let program = arguments[0] else { return ENOENT }
      guard let environment else { return posix_spawnp(&pid, program, &actions, &attributes, arguments, environ) }
      return withCStrings(environment.map { Array("\($0.key)=\($0.value)".utf8) }) { variables in
        posix_spawnp(&pid, program, &actions, &attributes, arguments, variables)
      }
    }
  }

  /// Pointers to the words, each terminated by a zero, with a null pointer at the end.
  private static func withCStrings<Result>(
    _ words: [[UInt8]], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    let bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: words.reduce(0) { $0 + $1.count + 1 })
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 1)
    defer {
      bytes.deallocate()
      pointers.deallocate()
    }
    var at = 0
    for (index, word) in words.enumerated() {
      pointers[index] = bytes.baseAddress?.advanced(by: at)
      for byte in word + [0] {
        bytes[at] = CChar(bitPattern: byte)
        at += 1
      }
    }
    pointers[words.count] = nil
    return body(pointers)
  }

  /// If the parent ignores SIGCHLD, the kernel discards the exit status, and with it the proof that the output is
  /// complete.
  private static func keepExitStatuses() {
    var action = sigaction()
    guard sigaction(SIGCHLD, nil, &action) == 0 else { return }
    let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    let isIgnored = handler == unsafeBitCast(SIG_IGN, to: Int.self)
    if isIgnored || action.sa_flags & SA_NOCLDWAIT != 0 { signal(SIGCHLD, SIG_DFL) }
  }

  private static func failure(_ status: Int32, _ words: [[UInt8]]) -> Failure {
    switch status {
    case ENOENT where words.count == 1 && words[0].contains(UInt8(ascii: " ")):
      Failure(
        .sourceMissing, "the command was not found",
        remedy: "write its words without quotes around all of them, or have a shell read the line: sh -c 'LINE'")
    case ENOENT where words[0].first == UInt8(ascii: "~"):
      Failure(
        .sourceMissing, "the command was not found", remedy: "write its path in full: only a shell expands the ~")
    case ENOENT:
      Failure(.sourceMissing, "the command was not found", remedy: "check its name and PATH")
    case EACCES:
      Failure(.sourceMissing, "the command cannot be run: permission denied", remedy: "make it executable: chmod +x")
    case ENOEXEC:
      Failure(
        .sourceMissing, "the command cannot be run: it is not a program",
        remedy: "a script begins with #! and its shell")
    case EAGAIN, ENOMEM:
      .system(.local, status, "the command cannot be run")
    default:
      .system(.sourceMissing, status, "the command cannot be run")
    }
  }
}
