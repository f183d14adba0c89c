import Glibc

/// Earlier versions kept the credentials of an EC2 machine's role in a file of the state folder. It is deleted.
package enum FormerInstanceFile {
  private static let name = "instance"
  private static let header = Array("s3up instance ".utf8)

  /// Only a file of this user that begins like those: other programs may use the folder.
  package static func remove(from folder: String) {
    guard let folder = try? RecordFolder.at(folder), let file = try? folder.file(name, O_RDONLY),
      let start = try? file.read(most: header.count), start == header
    else { return }
    folder.unlink(name)
  }
}
