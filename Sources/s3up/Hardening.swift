import Glibc

/// Keys and tokens are in this process's memory: no core file of it, and no other process of the same user may look
/// into it.
enum Hardening {
  static func noCoreFiles() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    // The limit does not hold for a core_pattern that is a pipe; this does.
    prctl(PR_SET_DUMPABLE, 0)
  }
}
