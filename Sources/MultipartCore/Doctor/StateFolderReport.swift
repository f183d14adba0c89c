import Glibc
import MultipartBasics

/// Whether runs of s3up can store state, and what is stored.
struct StateFolderReport: Sendable {
  enum Use: Sendable {
    case writable
    /// It does not exist and can be created.
    case canBeMade
    case unusable(Failure)
  }

  /// The path; nil if no folder is set.
  var path: String?
  var use: Use
  var records = 0
  /// The number of files that are not readable records.
  var unusable = 0

  /// Examines the folder without creating it.
  static func look(at path: String?) -> StateFolderReport {
    guard let path, !path.isEmpty else { return StateFolderReport(path: nil, use: .canBeMade) }
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else {
        return StateFolderReport(path: path, use: .unusable(StateFolder.failure(path, "cannot be used")))
      }
      return StateFolderReport(path: path, use: beMade(path))
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      return StateFolderReport(path: path, use: .unusable(Failure(.local, "is not a folder")))
    }
    var report = StateFolderReport(path: path, use: written(path))
    do throws(Failure) {
      let listing = try RecordBook(folder: path).listing()
      (report.records, report.unusable) = (listing.records.count, listing.unusable.count)
    } catch {
      if case .writable = report.use { report.use = .unusable(error) }
    }
    return report
  }

  /// Creates and deletes a file (`mkstemp`, `unlink`): permissions do not show that a file system is read-only or full.
  private static func written(_ path: String) -> Use {
    var template = StateFolder.template(path + "/.doctor")
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return .unusable(StateFolder.failure(path, "cannot be written")) }
    let done = WholeWrite.write([0x0A], to: descriptor) == 0
    let problem = StateFolder.failure(path, "cannot be written")
    close(descriptor)
    unlink(template)
    return done ? .writable : .unusable(problem)
  }

  /// Creates and deletes a folder in the nearest existing parent (`mkdtemp`, `rmdir`).
  private static func beMade(_ path: String) -> Use {
    var above = Array(path.utf8)
    while let slash = above.lastIndex(of: UInt8(ascii: "/")) {
      above = Array(above[..<slash])
      if let use = made(in: above.isEmpty ? "/" : String(decoding: above, as: UTF8.self), for: path) { return use }
    }
    // A relative path starts at the working directory.
    return made(in: ".", for: path) ?? .unusable(StateFolder.failure(path, "cannot be created"))
  }

  /// Creates a folder there; nil if the parent does not exist either.
  private static func made(in folder: String, for path: String) -> Use? {
    var template = StateFolder.template(folder + "/.s3up-doctor")
    if mkdtemp(&template) != nil {
      rmdir(template)
      return .canBeMade
    }
    let problem = errno
    var status = stat()
    guard stat(folder, &status) == 0 else { return nil }
    errno = problem
    return .unusable(StateFolder.failure(path, "cannot be created in \(folder)"))
  }
}
