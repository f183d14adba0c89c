internal import CKernels

package enum Hardening {
  /// Forbids core files, and other processes of this user to read this one's memory (`setrlimit`, `prctl`).
  package static func forbidCoreFiles() { ck_forbid_core_files() }
}
