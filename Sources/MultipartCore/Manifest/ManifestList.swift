import Glibc

/// Reads a manifest, line by line.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
package final class ManifestList: @unchecked Sendable {
  /// A key has at most 1,024 bytes, each of which JSON may write in six.
  private static let longest = 16 << 10
  private let lines: LineReader
  /// The scratch file that the lines are read from, for a manifest that is an object.
  private let scratch: ScratchFile?
  let form: ManifestForm
  var name: String { lines.name }

  /// Opens a manifest; `-` is standard input.
  package init(_ path: FilePath) throws(Failure) {
    form = ManifestForm(target: path.text)
    scratch = nil
    lines =
      path == FilePath("-")
      ? LineReader(open: STDIN_FILENO, name: "standard input", longest: Self.longest)
      : try LineReader(path, longest: Self.longest)
  }

  private init(_ file: ScratchFile, name: String) {
    form = ManifestForm(target: name)
    scratch = file
    lines = file.lines(named: name, longest: Self.longest)
  }

  /// Opens a manifest that is an object: it is first downloaded into an unnamed file in `folder`, and proven.
  package static func object(_ key: String, of store: Store, folder: String) async throws(Failure) -> ManifestList {
    let file = try ScratchFile(in: folder)
    let name = "s3://\(store.bucket)/\(key)"
    try await file.fill { (descriptor) async throws(Failure) in
      _ = try await store.download(key, to: .descriptor(descriptor, name: "a temporary file"))
    }
    return ManifestList(file, name: name)
  }

  /// The next entry. In lines for `sha256sum` the name is the key.
  func next() throws(Failure) -> ManifestEntry? {
    guard let line = try lines.next() else { return nil }
    guard let entry = form.entry(line) else {
      throw lines.failure(
        form == .sums
          ? "it is not one for sha256sum: 64 hex digits, two spaces and a name"
          : "it is not a JSON object with a key and the listed values",
        remedy: "give a manifest that \(.manifest) has written")
    }
    return entry
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
    let rest = isEscaped ? line.dropFirst() : line
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
    var entry = ManifestEntry(key: key, size: size, etag: json["etag"]?.text, versionID: json["version_id"]?.text)
    if let sum = json["checksum"], sum != .null {
      guard let name = sum["algorithm"]?.text, let text = sum["value"]?.text,
        let type = sum["type"]?.text.flatMap({ ChecksumType(awsName: $0) }),
        let algorithm = ChecksumAlgorithm.allCases.first(where: { ($0.awsName ?? "MD5") == name })
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
