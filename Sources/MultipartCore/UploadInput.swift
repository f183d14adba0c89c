/// Where the bytes of an upload come from.
public struct UploadInput: Sendable {
  package enum Kind: Sendable {
    case file(FilePath)
    /// What is open there already. A regular file is read as one, from where it stands; `owns` closes it.
    case descriptor(Int32, name: String, owns: Bool)
    /// By a name that leads to a descriptor or to something that is no regular file.
    case named(FilePath)
    /// What it prints; `errors` is its standard error, else this process's.
    case command([[UInt8]], errors: Int32?)
    case chunks(name: String, @Sendable (StreamFeed) async throws -> Void)
  }

  package let kind: Kind

  package init(_ kind: Kind) {
    self.kind = kind
  }

  /// A regular file. Only an upload of one can be resumed.
  public static func file(_ path: String) -> UploadInput { UploadInput(.file(FilePath(path))) }

  /// What can be read from an open descriptor, which stays the caller's.
  public static func descriptor(_ descriptor: Int32, name: String = "descriptor") -> UploadInput {
    UploadInput(.descriptor(descriptor, name: name, owns: false))
  }

  /// What a command prints, found by PATH. Nothing is published unless it ends with exit code 0.
  public static func command(_ words: [String]) -> UploadInput {
    UploadInput(.command(words.map { Array($0.utf8) }, errors: nil))
  }

  /// Chunks of any size, as they come. Nothing is published when the sequence throws.
  public static func stream<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks, name: String = "stream"
  ) -> UploadInput where Chunks.Element: Sequence<UInt8> {
    UploadInput(.chunks(name: name) { feed in for try await chunk in chunks { try await feed.write(Array(chunk)) } })
  }
}
