import Glibc
import MultipartBasics

/// A file named by a list.
struct ListedFile: Sendable {
  let line: Int
  /// The path as it was written.
  let path: [UInt8]
  /// The name that the key is made of.
  let name: [UInt8]
}

/// The files named by a list, one per line. Their names in the store begin after the last `/./` of a line, as in rsync;
/// without one, a name is the path without a leading `./` or `/`.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
final class FileList: @unchecked Sendable {
  /// Linux accepts no longer path.
  private static let longest = 4096
  private let lines: LineReader
  /// The folder of the file that was looked up last: consecutive files are mostly in the same one.
  private var parent: (path: [UInt8], folder: Folder)?

  init(_ path: FilePath, endsWithZero: Bool = false) throws(Failure) {
    lines = try LineReader(path, end: endsWithZero ? 0 : UInt8(ascii: "\n"), longest: Self.longest)
  }

  /// Reads until a line is complete, however long its writer takes.
  func next() throws(Failure) -> ListedFile? {
    guard let line = try lines.nextName() else { return nil }
    guard line.last != UInt8(ascii: "/") else { throw lines.failure("it names a folder", remedy: "list its files") }
    let components = Self.afterMark(line).split(separator: UInt8(ascii: "/")).drop { $0.elementsEqual(".".utf8) }
    guard !components.isEmpty else { throw lines.failure("the file's name is empty") }
    guard !components.contains(where: KeyName.isMangled) else {
      throw lines.failure("\".\" or \"..\" in the file's name", remedy: "put /./ where its name in the store begins")
    }
    let name = Array(components.joined(separator: [UInt8(ascii: "/")]))
    return ListedFile(line: lines.number, path: Array(line), name: name)
  }

  static let withoutReturns: Wording = "remove them all with tr -d '\\r'"

  private static func afterMark(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var end = line.endIndex
    while let slash = line[..<end].lastIndex(of: UInt8(ascii: "/")) {
      if line[slash...].starts(with: "/./".utf8) { return line[(slash + 3)...] }
      end = slash
    }
    return line
  }

  /// Looks the file up, following links. A failure concerns this file only.
  func find(_ listed: ListedFile) throws(Failure) -> TreeFile {
    let slash = listed.path.lastIndex(of: UInt8(ascii: "/"))
    let begin = slash.map { $0 + 1 } ?? 0
    let folder = try folder(listed.path[..<begin], line: listed.line)
    let place = Place(file: FilePath(bytes: listed.path).text)
    do throws(ErrorNumber) {
      let status = try folder.status(of: Array(listed.path[begin...]), followsLinks: true)
      switch FolderNames.Kind(status) {
      case .file: return TreeFile(folder: folder, path: listed.name, status)
      case .folder: throw ErrorNumber(EISDIR)
      default: throw ErrorNumber(EINVAL)
      }
    } catch {
      switch error.number {
      case EISDIR:
        throw Failure(.usage, "line \(listed.line) of the list names a folder", remedy: "list its files").at(place)
      case EINVAL:
        throw Failure(
          .usage, "line \(listed.line) of the list names no regular file",
          remedy: "leave it out, or upload it as a stream"
        ).at(place)
      default:
        throw Failure.system(
          .sourceMissing, error.number, "the file in line \(listed.line) of the list cannot be read",
          remedy: listed.path.last == UInt8(ascii: "\r")
            ? "the line ends with a carriage return, as on Windows: " + Self.withoutReturns : nil
        ).at(place)
      }
    }
  }

  /// Opens the folder. The path ends with a slash; that of the current directory is empty.
  private func folder(_ path: ArraySlice<UInt8>, line: Int) throws(Failure) -> Folder {
    if let parent, parent.path.elementsEqual(path) { return parent.folder }
    let shown = FilePath(bytes: Array(path))
    do throws(Failure) {
      let folder = try Folder(path.isEmpty ? FilePath(".") : shown, shownAs: shown, listed: false)
      parent = (Array(path), folder)
      return folder
    } catch {
      var failure = error
      failure.message = "line \(line) of the list: " + error.message
      throw failure
    }
  }
}
