internal import CKernels

package enum Hardening {
  /// `setrlimit`, `prctl`: no core file, and no other process of this user may read this one's memory.
  package static func forbidCoreFiles() { ck_forbid_core_files() }
}
