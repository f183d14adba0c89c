@preconcurrency import Glibc

enum Environment {
  /// The variables of this process; of one that stands twice the first counts, as with `getenv`.
  static func ofProcess() -> [String: String] {
    var variables: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
        let name = String(text[..<sign])
        if variables[name] == nil { variables[name] = String(text[text.utf8.index(after: sign)...]) }
      }
      next += 1
    }
    return variables
  }
}
