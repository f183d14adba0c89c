import Glibc
import MultipartBasics

extension FilePath {
  /// What to do if nothing is found at this path, by what the path shows: the traces of a shell that did not replace
  /// something, a link that leads nowhere, another kind of address.
  var whyMissing: Wording {
    if bytes.isEmpty { return "the name is empty: is a shell variable not set?" }
    if let target = linkTarget {
      return "it is a link to '\(SafeText.oneLine(target.text, limit: 200))', which does not exist"
    }
    if let path = text.rest(after: "file://") { return "leave file:// out: \(SafeText.oneLine(String(path)))" }
    if bytes.first == UInt8(ascii: "~") { return "the shell does not replace ~ in quotes: write the whole path" }
    if let scheme = text.cut(at: "://")?.before, scheme.utf8.allSatisfy(ASCII.isAlphanumeric) {
      return "it is an address, not a file: download it first, and name the file"
    }
    if bytes.contains(where: { Array("*?[".utf8).contains($0) }) {
      return isMatched
        ? "the shell replaces a pattern by the names of files only without quotes: leave them out"
        : "no file matches this pattern"
    }
    if let fileAmongFolders { return fileAmongFolders.isNoFolder }
    if bytes.last == UInt8(ascii: "/"), FilePath(bytes: bytes.dropLast()).exists {
      return "leave the slash at its end out"
    }
    return "check the file's path"
  }

  /// What to do if the source of an upload is not there; its bytes can also come from the web.
  var whySourceMissing: Wording {
    let lower = text.lowercased()
    guard ["https://", "http://"].contains(where: lower.begins) else { return whyMissing }
    return "it is an address, not a file; without a file in between: \(run: .uploadFromWeb(url: text))"
  }

  /// What is wrong if this file is taken for a folder.
  var isNoFolder: Wording { "there is a file, not a folder, at \(SafeText.oneLine(text, limit: 200))" }

  /// What to do if this folder does not exist.
  var toCreate: Wording {
    text.holds("://")
      ? "it is an address, not a file: name a file"
      : "create it: mkdir -p \(ShellWord.quoted(SafeText.oneLine(text)))"
  }

  /// Whether the path, as a pattern of a shell, matches anything (`glob`).
  private var isMatched: Bool {
    var found = glob_t()
    defer { globfree(&found) }
    return withCString { glob($0, GLOB_NOSORT, nil, &found) } == 0 && found.gl_pathc > 0
  }

  /// The file that the path takes for a folder.
  var fileAmongFolders: FilePath? {
    bytes.indices.lazy.filter { bytes[$0] == UInt8(ascii: "/") && $0 > 0 && $0 < bytes.count - 1 }
      .map { FilePath(bytes: Array(bytes[..<$0])) }
      .first { $0.exists && !$0.isFolder }
  }
}
