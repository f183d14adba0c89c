import MultipartBasics

/// Reads a manifest, line by line.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
public final class ManifestList: @unchecked Sendable {
  /// A key has at most 1,024 bytes, each of which JSON may write in six.
  private static let longest = 16 << 10
  private let lines: LineReader
  /// The scratch file that the lines are read from, for a manifest that is an object.
  private let scratch: ScratchFile?
  /// The form of the last entry.
  private(set) var form = ManifestForm.sums
  var name: String { lines.name }

  /// Opens a manifest; `-` is standard input.
  public init(_ path: FilePath) throws(Failure) {
    scratch = nil
    lines = try LineReader(path, longest: Self.longest)
  }

  private init(_ file: ScratchFile, name: String) {
    scratch = file
    lines = file.lines(named: name, longest: Self.longest)
  }

  /// Opens a manifest that is an object: it is first downloaded into an unnamed file in `folder`, and proven.
  public static func object(_ key: String, of store: Store, folder: String) async throws(Failure) -> ManifestList {
    let file = try ScratchFile(in: folder)
    let name = "s3://\(store.bucket)/\(key)"
    try await file.fill { (descriptor) async throws(Failure) in
      _ = try await store.download(key, to: .descriptor(descriptor, name: "a temporary file"))
    }
    return ManifestList(file, name: name)
  }

  /// The next entry. In lines for `sha256sum` the name is the key. A line shows by its first byte which form it has: the
  /// name of a share's manifest, or of a pipe, does not.
  func next() throws(Failure) -> ManifestEntry? {
    guard let line = try lines.next() else { return nil }
    form = line.first == UInt8(ascii: "{") ? ManifestForm.json : .sums
    guard let entry = form.entry(line) else {
      throw lines.failure(
        form == .sums
          ? "it is neither a JSON object nor one for sha256sum: 64 hex digits, two spaces and a name"
          : "it is not a JSON object with a key and the listed values",
        remedy: "give a manifest that \(.manifest) has written")
    }
    return entry
  }
}
