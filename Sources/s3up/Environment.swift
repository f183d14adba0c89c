@preconcurrency import Glibc

enum Environment {
  /// The variables of this process; of one that stands twice the first counts, as with `getenv`. A service that was
  /// started without `HOME` has the one that the system knows of its user.
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
    if variables["HOME"] == nil { variables["HOME"] = home(of: geteuid()) }
    return variables
  }

  /// `getpwuid_r`
  static func home(of user: uid_t) -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    return buffer.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, getpwuid_r(user, &entry, base, buffer.count, &found) == 0, found != nil,
        let path = entry.pw_dir
      else { return nil }
      let home = String(cString: path)
      return home.isEmpty ? nil : home
    }
  }
}
