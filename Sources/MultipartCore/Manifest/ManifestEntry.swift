/// One object in a manifest.
struct ManifestEntry: Sendable {
  var key: String
  /// The size, which lines for `sha256sum` do not contain.
  var size: Int64?
  var etag: String?
  var versionID: String?
  var checksum: ObjectChecksum?
  var sha256: Checksum?

  init(
    key: String, size: Int64? = nil, etag: String? = nil, versionID: String? = nil, checksum: ObjectChecksum? = nil,
    sha256: Checksum? = nil
  ) {
    self.key = key
    self.size = size
    self.etag = etag
    self.versionID = versionID
    self.checksum = checksum
    self.sha256 = sha256
  }
}

package enum ManifestForm: Sendable {
  /// Lines as `sha256sum` writes and checks them.
  case sums
  /// One JSON object per line.
  case json

  /// The form for a target, chosen by the extension of its name.
  package init(target: String) {
    self = [".json", ".jsonl"].contains(where: { target.ends(with: $0) }) ? .json : .sums
  }

  /// Whether a line is one of a manifest: a file of such lines may be replaced.
  package func isLine(_ line: ArraySlice<UInt8>) -> Bool {
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
  package static func target(_ name: String, share: Int, of shares: Int) -> String { "\(name).\(share)-of-\(shares)" }

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
