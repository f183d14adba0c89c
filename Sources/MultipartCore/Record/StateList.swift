import Glibc
import MultipartBasics

/// A short list in the state folder: below a header, one entry per line, whose words are separated by spaces.
struct StateList: Sendable {
  private static let mostBytes = 1 << 20

  let folder: String
  let name: String
  let header: String

  /// The words of all entries, or of those with this first word; none if the file is too long or has another header. It
  /// works on bytes: every start reads such a file, and splitting a `String` is slow.
  func entries(of first: String? = nil) throws(Failure) -> [[String]] {
    guard let bytes = try file()?.read(most: Self.mostBytes + 1), bytes.count <= Self.mostBytes else { return [] }
    let rows = bytes.split(separator: UInt8(ascii: "\n"))
    guard rows.first?.elementsEqual(header.utf8) == true else { return [] }
    return rows.dropFirst().compactMap { row in
      if let first, !row.starts(with: first.utf8) { return nil }
      let words = row.split(separator: UInt8(ascii: " "))
      if let first, words.first?.elementsEqual(first.utf8) != true { return nil }
      return words.map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Why the file is not used: another user could have written it.
  var refusal: Failure? {
    do throws(Failure) {
      _ = try file()
      return nil
    } catch {
      return error.code == .configuration ? error : nil
    }
  }

  private func file() throws(Failure) -> RecordFile? { try RecordFolder.home(in: folder)?.file(name, O_RDONLY) }

  /// The file is written under a temporary name and renamed, so that readers see either the old or the new list. If two
  /// runs write at once, the last one wins.
  func replace(with entries: [[String]]) throws(Failure) {
    let lines = [header] + entries.map { $0.joined(separator: " ") }
    _ = try RecordFolder.makeHome(in: folder).replace(name, with: Array((lines.joined(separator: "\n") + "\n").utf8))
  }
}
