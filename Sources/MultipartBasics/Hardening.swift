internal import CKernels

/// What keeps secrets in the memory of this process.
public enum Hardening {
  /// Forbids core files, and other processes of this user to read this one's memory (`setrlimit`, `prctl`).
  public static func forbidCoreFiles() { ck_forbid_core_files() }
}
