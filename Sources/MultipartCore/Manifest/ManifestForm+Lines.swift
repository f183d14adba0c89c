import MultipartBasics

/// Writes and parses the lines of a manifest.
extension ManifestForm {
  /// Whether a line is one of a manifest: a file of such lines may be replaced.
  public func isLine(_ line: ArraySlice<UInt8>) -> Bool {
    switch self {
    case .sums:
      let sum = line.first == UInt8(ascii: "\\") ? line.dropFirst() : line
      return sum.prefix(64).count { Hex.value(of: $0) != nil } == 64 && sum.dropFirst(64).starts(with: "  ".utf8)
    case .json:
      guard let entry = JSON.parse(Array(line)) else { return false }
      return ["key", "size", "etag", "version_id", "checksum", "sha256"].allSatisfy { entry[$0] != nil }
    }
  }

  /// The name of a share's manifest: each share of a run writes its own.
  public static func target(_ name: String, share: Int, of shares: Int) -> String { "\(name).\(share)-of-\(shares)" }

  /// The entry's line, with its line feed.
  func line(_ entry: ManifestEntry) throws(Failure) -> [UInt8] {
    switch self {
    case .sums:
      guard let sum = entry.sha256, sum.algorithm == .sha256 else {
        throw Failure(.local, "the manifest needs the SHA-256 of each file").at(Place(key: entry.key))
      }
      let name = Self.escaped(entry.key)
      return (name.isEscaped ? [UInt8(ascii: "\\")] : []) + Array(sum.hex.utf8) + Array("  ".utf8) + name.bytes
        + [UInt8(ascii: "\n")]
    case .json:
      let checksum = entry.checksum.map { sum in
        JSON.object([
          ("algorithm", .string(sum.name)), ("type", .string(sum.type.rawValue)), ("value", .string(sum.value)),
        ])
      }
      let line = JSON.object([
        ("key", .string(entry.key)), ("size", entry.size.map { .int($0) } ?? .null), ("etag", .optional(entry.etag)),
        ("version_id", .optional(entry.versionID)), ("checksum", checksum ?? .null),
        ("sha256", .optional(entry.sha256?.hex)),
      ])
      return Array((line.encoded + "\n").utf8)
    }
  }

  /// The name, escaped if necessary. A backslash at the beginning of the line tells `sha256sum` that the name is
  /// escaped.
  private static func escaped(_ name: String) -> (bytes: [UInt8], isEscaped: Bool) {
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): bytes += "\\\\".utf8
      case UInt8(ascii: "\n"): bytes += "\\n".utf8
      case UInt8(ascii: "\r"): bytes += "\\r".utf8
      default: bytes.append(byte)
      }
    }
    return (bytes, bytes.count != name.utf8.count)
  }
}

extension ManifestForm {
  /// Parses what `line` has written.
  func entry(_ line: ArraySlice<UInt8>) -> ManifestEntry? {
    switch self {
    case .sums: Self.sum(line)
    case .json: JSON.parse(Array(line)).flatMap(Self.object)
    }
  }

  private static func sum(_ line: ArraySlice<UInt8>) -> ManifestEntry? {
    let isEscaped = line.first == UInt8(ascii: "\\")
    var rest = isEscaped ? line.dropFirst() : line
    // As sha256sum reads a list that was on Windows; a name's own is written as \r.
    if rest.last == UInt8(ascii: "\r") { rest = rest.dropLast() }
    let space = UInt8(ascii: " ")
    guard let sum = Hex.decode(String(decoding: rest.prefix(64), as: UTF8.self)), sum.count == 32,
      let sha256 = Checksum(.sha256, bytes: sum), case let mark = rest.dropFirst(64).prefix(2), mark.first == space,
      // `*` means binary mode, which makes no difference.
      mark.last == space || mark.last == UInt8(ascii: "*")
    else { return nil }
    let written = Array(rest.dropFirst(66))
    guard let name = isEscaped ? unescaped(written) : written, !name.isEmpty,
      let key = String(validating: name, as: UTF8.self)
    else { return nil }
    return ManifestEntry(key: key, sha256: sha256)
  }

  private static func unescaped(_ name: [UInt8]) -> [UInt8]? {
    var bytes: [UInt8] = []
    var isMarked = false
    for byte in name {
      switch (isMarked, byte) {
      case (false, UInt8(ascii: "\\")): isMarked = true
      case (false, _): bytes.append(byte)
      case (true, UInt8(ascii: "\\")): (isMarked, bytes) = (false, bytes + [byte])
      case (true, UInt8(ascii: "n")): (isMarked, bytes) = (false, bytes + [UInt8(ascii: "\n")])
      case (true, UInt8(ascii: "r")): (isMarked, bytes) = (false, bytes + [UInt8(ascii: "\r")])
      default: return nil
      }
    }
    return isMarked ? nil : bytes
  }

  private static func object(_ json: JSON) -> ManifestEntry? {
    guard let key = json["key"]?.text, let size = json["size"]?.integer(in: 0...Int64.max) else { return nil }
    // A value that cannot be read must not be passed over: another one, which proves less, would decide.
    for name in ["etag", "version_id", "sha256"] {
      guard let value = json[name], value != .null else { continue }
      guard value.text != nil else { return nil }
    }
    var entry = ManifestEntry(key: key, size: size, etag: json["etag"]?.text, versionID: json["version_id"]?.text)
    if let sum = json["checksum"], sum != .null {
      guard let name = sum["algorithm"]?.text, let text = sum["value"]?.text,
        let type = sum["type"]?.text.flatMap({ ChecksumType(awsName: $0) }),
        let algorithm = ChecksumAlgorithm.allCases.first(where: { ($0.awsName ?? "MD5") == name }),
        type == .composite || Checksum(algorithm, base64: text) != nil
      else { return nil }
      entry.checksum = ObjectChecksum(algorithm, type, text)
    }
    if let hex = json["sha256"]?.text {
      guard let sum = Hex.decode(hex).flatMap({ Checksum(.sha256, bytes: $0) }) else { return nil }
      entry.sha256 = sum
    }
    return entry
  }
}
