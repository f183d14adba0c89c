internal import CKernels

package enum Hardening {
  /// `setrlimit`, `prctl`: what is in this process's memory stays there.
  package static func forbidCoreFiles() { ck_forbid_core_files() }
}
