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
    RunningProcess.all()?.contains { $0.number != leader && $0.group == leader } ?? true
  }
}

/// A process that is alive, from `/proc/N/stat`.
struct RunningProcess: Hashable {
  let number: pid_t
  let parent: pid_t
  let group: pid_t
  /// When it began, in ticks since the machine has: another process with this number began later.
  let began: UInt64

  /// All of them; nil if they are not listed.
  static func all() -> [RunningProcess]? {
    guard let folder = opendir("/proc") else { return nil }
    defer { closedir(folder) }
    var isListed = false
    var all: [RunningProcess] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let number = pid_t(name) else { continue }
      isListed = true
      if let process = RunningProcess(number) { all.append(process) }
    }
    return isListed ? all : nil
  }

  /// What a command has started outside its own group, as `timeout` and `setsid` do, as long as the processes between
  /// are alive.
  static func outside(group leader: pid_t) -> [RunningProcess] {
    let all = all() ?? []
    var family: [pid_t: UInt64] = [:]
    for process in all where process.number == leader || process.group == leader {
      family[process.number] = process.began
    }
    while true {
      // A child is not older than its parent: otherwise the parent's number was used again in the meantime.
      let next = all.filter { process in
        family[process.number] == nil && family[process.parent].map { process.began >= $0 } ?? false
      }
      guard !next.isEmpty else { break }
      for process in next { family[process.number] = process.began }
    }
    return all.filter { family[$0.number] == $0.began && $0.group != leader }
  }

  static func == (a: RunningProcess, b: RunningProcess) -> Bool { a.number == b.number && a.began == b.began }

  func hash(into hasher: inout Hasher) { hasher.combine(number) }

  /// Nil if it has ended. The file has the pid, the name in parentheses, which may contain anything, the state, the
  /// parent, the group, and as its 22nd word the beginning.
  init?(_ number: pid_t) {
    let file = open("/proc/\(number)/stat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard let bytes = WholeFile.read(file, most: 4096), let end = bytes.lastIndex(of: UInt8(ascii: ")")) else {
      return nil
    }
    let words = bytes[(end + 1)...].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count > 19, !"ZX".contains(words[0]), let parent = pid_t(words[1]), let group = pid_t(words[2]),
      let began = UInt64(words[19])
    else { return nil }
    (self.number, self.parent, self.group, self.began) = (number, parent, group, began)
  }

  var isAlive: Bool { RunningProcess(number)?.began == began }
}
