import CDispatch
import Foundation

/// Calls posix_spawn with everything set explicitly that a child would otherwise inherit.
enum Spawn {
  static func run(
    _ program: String, _ arguments: [String], environment: [String: String], directory: String?, streams: [Int32]
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (target, source) in streams.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
    }
    if let directory {
      let change: ChangeDirectory = try symbol("posix_spawn_file_actions_addchdir_np")
      _ = change(&actions, directory)
    }
    let closeFrom: CloseFrom = try symbol("posix_spawn_file_actions_addclosefrom_np")
    _ = closeFrom(&actions, 3)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

    let words = ([program] + arguments).map { strdup($0) }
    let settings = environment.map { strdup("\($0.key)=\($0.value)") }
    defer { for word in words + settings { free(word) } }
    var pid = pid_t()
    let code = posix_spawn(&pid, program, &actions, &attributes, words + [nil], settings + [nil])
    guard code == 0 else { throw SystemError("posix_spawn \(program)", code) }
    return pid
  }
}

private typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>
private typealias ChangeDirectory = @convention(c) (Actions, UnsafePointer<CChar>) -> Int32
private typealias CloseFrom = @convention(c) (Actions, Int32) -> Int32

/// Finds a function of the C library that its Swift module does not show, because it is a GNU extension.
private func symbol<Function>(_ name: String) throws -> Function {
  guard let found = dlsym(nil, name) else { throw SystemError(name, ENOSYS) }
  return unsafeBitCast(found, to: Function.self)
}

/// Waits for a child and measures it.
enum Watch {
  struct End {
    var status: Int32?
    var signal: Int32?
    var peak: Int
    var cpuSeconds: Double
  }

  /// Returns the end and the peak from wait4. For a spawned child, however, the kernel also counts the memory that its
  /// parent had at exec, so a number not above the parent's own peak says nothing about the child: then the last VmHWM
  /// counts, which is read every few milliseconds. The kernel's counters lag by some pages per thread, hence the slack.
  static func wait(_ pid: pid_t, ownPeak: Int) -> End {
    var seen = 0
    var status: Int32 = 0
    var usage = rusage()
    var ended: pid_t = 0
    var looks = 0
    while ended == 0 || (ended < 0 && errno == EINTR) {
      ended = wait4(pid, &status, WNOHANG, &usage)
      if ended == 0 {
        seen = max(seen, peak(of: pid))
        // Most children end soon; the others are checked less often.
        looks += 1
        var nothing = pollfd(fd: -1, events: 0, revents: 0)
        poll(&nothing, 1, looks < 50 ? 4 : 20)
      }
    }
    let counted = usage.ru_maxrss * 1024
    let signal = status & 0x7F
    return End(
      status: signal == 0 ? (status >> 8) & 0xFF : nil, signal: signal == 0 ? nil : signal,
      peak: counted > ownPeak + (8 << 20) || seen == 0 ? counted : seen,
      cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime))
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

  /// The VmHWM of a living process, in bytes.
  static func peak(of pid: pid_t) -> Int {
    let file = open("/proc/\(pid)/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { text in
      let count = read(file, text.baseAddress, text.count - 1)
      guard count > 0, let base = text.baseAddress else { return 0 }
      text[count] = 0
      // `VmHWM:      9876 kB`
      return strstr(base, "VmHWM:").map { Int(atoll($0 + 6)) * 1024 } ?? 0
    }
  }
}
