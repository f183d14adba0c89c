import Glibc
import MultipartBasics

/// Files of the state folder, readable by this user only and replaced atomically.
enum StateFolder {
  /// The names of s3up's own files in it.
  static let names = [
    RecordFolder.ownName, RunRecord.folderName, DownloadRecord.folderName, StoreMemory.name, CognitoGuestFile.name,
    TicketSeal.name,
  ]

  /// Creates each missing folder of the path (`mkdir`, mode 0700) and makes it durable in its parent.
  static func make(_ folder: String) throws(Failure) {
    var path = ""
    var problem: Int32 = 0
    for piece in folder.words(between: "/") {
      let above = path.isEmpty ? (folder.begins(with: "/") ? "/" : ".") : path
      path += (path.isEmpty && !folder.begins(with: "/") ? "" : "/") + piece
      if mkdir(path, 0o700) == 0 {
        sync(above)
      } else if errno != EEXIST {
        // Reported only if the folder does not exist in the end: parents may exist that we may not create.
        if problem == 0 { problem = errno }
      }
    }
    var status = stat()
    guard stat(folder, &status) == 0 else {
      if problem != 0 { errno = problem }
      var problem = failure(folder, "the state folder \(SafeText.oneLine(folder)) cannot be created")
      problem.remedy = "name another folder with \(.stateFolder)"
      throw problem
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
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

  /// Makes a folder durable (`fsync`), if the file system supports it.
  private static func sync(_ folder: String) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  static func failure(_ path: String, _ what: String) -> Failure {
    .system(.local, errno, "\(what)").at(Place(file: path))
  }
}
