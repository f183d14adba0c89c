import Glibc

extension FilePath {
  /// What to do if nothing is found at this path, by what the path shows: the traces of a shell that did not replace
  /// something, a link that leads nowhere, another kind of address.
  var whyMissing: Wording {
    if bytes.isEmpty { return "the name is empty: is a shell variable not set?" }
    if let target = linkTarget {
      return "it is a link to \(SafeText.oneLine(target.text, limit: 200)), where there is nothing"
    }
    if let path = text.rest(after: "file://") { return "leave file:// out: \(SafeText.oneLine(String(path)))" }
    if bytes.first == UInt8(ascii: "~") { return "the shell does not replace ~ in quotes: write the whole path" }
    if let scheme = text.cut(at: "://")?.before, scheme.utf8.allSatisfy(ASCII.isAlphanumeric) {
      return "it is an address, not a file: fetch it first, or pipe it: \(run: .uploadStandardInput)"
    }
    if bytes.contains(where: { Array("*?[".utf8).contains($0) }) {
      return "a pattern arrives unchanged if it is in quotes, or if no file matches it"
    }
    if bytes.last == UInt8(ascii: "/"), FilePath(bytes: bytes.dropLast()).exists {
      return "leave the slash at its end out"
    }
    return "check the file's path"
  }
}
