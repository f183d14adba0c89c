import Glibc

/// Changes of a file that change its ctime and leave its size and mtime as they were.
package enum Touch: String, CaseIterable, Sendable {
  case chmod, link, rewritten

  /// Writes other bytes into the file and restores its times, like VeraCrypt.
  package func happen(to path: String) throws {
    switch self {
    case .chmod: guard Glibc.chmod(path, 0o640) == 0 else { throw SystemError("chmod") }
    case .link: guard Glibc.link(path, path + ".link") == 0 else { throw SystemError("link") }
    case .rewritten:
      let file = open(path, O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { throw SystemError("open") }
      defer { close(file) }
      var status = stat()
      guard fstat(file, &status) == 0 else { throw SystemError("fstat") }
      guard pwrite(file, "changed", 7, 1000) == 7 else { throw SystemError("pwrite") }
      guard futimens(file, [status.st_atim, status.st_mtim]) == 0 else { throw SystemError("futimens") }
    }
  }
}
