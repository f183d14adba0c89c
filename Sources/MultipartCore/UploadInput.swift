/// Where the bytes of an upload come from.
public struct UploadInput: Sendable {
  enum Kind: Sendable {
    case file(FilePath)
    /// A file found in a folder, which is open.
    case entry(TreeFile, followsLinks: Bool)
    /// An open descriptor. A regular file is read from its current offset; with `owns` the descriptor is closed at the
    /// end.
    case descriptor(Int32, name: String, owns: Bool)
    /// A path, which may lead to a descriptor or to something other than a regular file.
    case named(FilePath)
    /// The standard output of a command; `errors` receives its standard error, nil: this process's.
    case command([[UInt8]], errors: Int32?)
    case chunks(name: String, @Sendable (StreamFeed) async throws -> Void)
  }

  let kind: Kind

  init(_ kind: Kind) {
    self.kind = kind
  }

  /// The name in messages.
  var path: FilePath {
    switch kind {
    case .file(let path), .named(let path): path
    case .entry(let file, _): file.display
    case .descriptor(_, let name, owns: _), .chunks(let name, _): FilePath(name)
    case .command(let words, _): FilePath(bytes: words.first ?? [])
    }
  }

  /// A regular file. Uploads of other inputs cannot be resumed.
  public static func file(_ path: String) -> UploadInput { UploadInput(.file(FilePath(path))) }

  /// A regular file, whose name may be any bytes.
  public static func file(_ path: FilePath) -> UploadInput { UploadInput(.file(path)) }

  /// What a command line names: `-` is the standard input and `/dev/fd/3` an open descriptor; anything else is opened,
  /// also if it is a FIFO or a device.
  public static func path(_ path: FilePath) -> UploadInput { UploadInput(.named(path)) }

  /// Whatever can be read from an open descriptor. The caller closes it.
  public static func descriptor(_ descriptor: Int32, name: String = "descriptor") -> UploadInput {
    UploadInput(.descriptor(descriptor, name: name, owns: false))
  }

  /// The output of a command, which is looked up in PATH. Nothing is published unless it exits with 0.
  public static func command(_ words: [String]) -> UploadInput {
    command(words.map { Array($0.utf8) })
  }

  /// The same for words that may be any bytes; `errors` is the descriptor that receives the command's standard error,
  /// nil: this process's.
  public static func command(_ words: [[UInt8]], errors: Int32? = nil) -> UploadInput {
    UploadInput(.command(words, errors: errors))
  }

  /// A sequence of chunks of any size. Nothing is published if the sequence throws.
  public static func stream<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks, name: String = "stream"
  ) -> UploadInput where Chunks.Element: Sequence<UInt8> {
    UploadInput(.chunks(name: name) { feed in for try await chunk in chunks { try await feed.write(Array(chunk)) } })
  }
}
