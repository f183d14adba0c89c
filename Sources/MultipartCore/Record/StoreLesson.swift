import MultipartBasics

/// Something that an upload learned about its store, stored for later runs.
enum StoreLesson: Sendable, Equatable {
  /// The strongest form of checksum that the store verifies.
  case verifies(ChecksumForm)
  /// Every part of an upload but the last must have the same size.
  case equalParts
  /// The user was warned that no lifecycle rule of this bucket aborts abandoned uploads.
  case saidNoLifecycle(bucket: String)
  /// How fast the line was.
  case line(LineClass)

  private static let line = "line:"
  private static let lifecycle = "no-lifecycle:"

  /// The lesson as one word for the file; nil if it cannot be written as one.
  var word: String? {
    switch self {
    case .verifies(let form): form.word
    case .equalParts: "equal-parts"
    case .line(let line): Self.line + line.rawValue
    case .saidNoLifecycle(let bucket):
      bucket.utf8.contains { $0 <= 0x20 } ? nil : Self.lifecycle + bucket
    }
  }

  init?(word: String) {
    if word == "equal-parts" {
      self = .equalParts
    } else if word.begins(with: Self.lifecycle) {
      self = .saidNoLifecycle(bucket: String(Substring(word.utf8.dropFirst(Self.lifecycle.utf8.count))))
    } else if word.begins(with: Self.line) {
      guard let line = LineClass(rawValue: String(Substring(word.utf8.dropFirst(Self.line.utf8.count)))) else {
        return nil
      }
      self = .line(line)
    } else {
      guard let form = ChecksumForm(word: word) else { return nil }
      self = .verifies(form)
    }
  }

  /// Whether the two lessons are about the same thing, so that this one replaces the other.
  func isAbout(_ other: StoreLesson) -> Bool {
    switch (self, other) {
    case (.verifies, .verifies), (.equalParts, .equalParts), (.line, .line): true
    case (.saidNoLifecycle(let a), .saidNoLifecycle(let b)): a.utf8.elementsEqual(b.utf8)
    default: false
    }
  }
}
