import Glibc

/// Earlier versions kept the credentials of a machine's role in a file of the state folder. Where it is still there it
/// is taken away.
package enum FormerInstanceFile {
  private static let name = "instance"
  private static let header = Array("s3up instance ".utf8)

  /// Only a file of this user that begins as those did: the folder may be one that other programs use.
  package static func remove(from folder: String) {
    guard let folder = try? RecordFolder.at(folder), let file = try? folder.file(name, O_RDONLY),
      let start = try? file.read(most: header.count), start == header
    else { return }
    folder.unlink(name)
  }
}
