import Glibc

/// The process group that a command runs in.
enum ProducerGroup: Sendable {
  /// This program's group: signals from the terminal's keys reach both, and the command may ask for a password.
  case ours
  /// Its own group: a signal to it ends everything that the command has started.
  case own

  /// The group to use: `ours` if this program has the terminal, because in its own group the command would be in the
  /// background, and would be stopped when it reads the terminal. Keys then reach every process of the group, and no
  /// signal has to be passed on.
  static func fitting() -> ProducerGroup {
    let terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard terminal >= 0 else { return .own }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp() ? .ours : .own
  }

  /// Whether a process of the group other than its leader is alive; true if that cannot be found out.
  static func hasMembers(beside leader: pid_t) -> Bool {
    guard let folder = opendir("/proc") else { return true }
    defer { closedir(folder) }
    var isListed = false
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let number = pid_t(name) else { continue }
      isListed = true
      if number != leader, isAlive(number, in: leader) { return true }
    }
    return !isListed
  }

  /// Whether a process is alive, from `/proc/N/stat`: the pid, the name in parentheses, which may contain anything, the
  /// state, the parent, the group.
  private static func isAlive(_ number: pid_t, in group: pid_t) -> Bool {
    let file = open("/proc/\(number)/stat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    guard let bytes = WholeFile.read(file, most: 4096), let end = bytes.lastIndex(of: UInt8(ascii: ")")) else {
      return false
    }
    let words = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard words.count > 2, let state = words[0].first else { return false }
    return String(decoding: words[2], as: UTF8.self) == String(group) && !"ZX".utf8.contains(state)
  }
}
