@preconcurrency import Glibc

enum ProcessEnvironment {
  /// The variables of this process. If one occurs twice, the first counts, as with `getenv`. A service that was started
  /// without `HOME` gets its user's home directory.
  static func variables(
    _ block: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
  ) -> [String: String] {
    var pairs: [(String, String)] = []
    var next = block
    while let entry = next.pointee {
      if let sign = strchr(entry, 0x3D) {
        let name = UnsafeRawBufferPointer(start: entry, count: sign - entry)
        pairs.append((String(decoding: name, as: UTF8.self), String(cString: sign + 1)))
      }
      next += 1
    }
    var variables = Dictionary(pairs) { first, _ in first }
    if variables["HOME"] == nil { variables["HOME"] = home(of: geteuid()) }
    return variables
  }

  /// The home directory of a user (`getpwuid_r`).
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
