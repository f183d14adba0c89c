import Glibc
import MultipartBasics

/// Files of the state folder, readable by this user only and replaced atomically.
enum StateFolder {
  /// The names of s3up's own files in it.
  static let names = [
    RecordFolder.ownName, RunRecord.folderName, DownloadRecord.folderName, StoreMemory.name, CognitoGuestFile.name,
    TicketSeal.name,
  ]

  /// Creates each missing folder of the path (mode 0700).
  static func make(_ folder: String) throws(Failure) {
    let path = FilePath(folder)
    do throws(ErrorNumber) {
      try Folder.make(path, mode: 0o700)
    } catch {
      var problem = failure(folder, "the state folder \(SafeText.oneLine(folder)) cannot be created", error)
      problem.remedy = "name another folder with \(.stateFolder)"
      throw problem
    }
    guard path.isFolder else {
      throw Failure(
        .local, "the state folder \(SafeText.oneLine(folder)) is not a folder",
        remedy: "name another with \(.stateFolder)"
      ).at(Place(file: folder))
    }
  }

  /// A name for `mkstemp` and `mkdtemp`, which replace the last six characters by random ones.
  static func template(_ stem: String) -> [CChar] {
    Array((stem + "." + String(repeating: "X", count: 6)).utf8CString)
  }

  static func failure(_ path: String, _ what: String, _ error: ErrorNumber = ErrorNumber(errno)) -> Failure {
    .system(.local, error.number, "\(what)").at(Place(file: path))
  }
}
