import Glibc

/// What was learnt of a store, kept between runs in the state folder: which checksum it verifies. One line for each
/// endpoint; what cannot be read is as good as not known.
package struct StoreMemory: Sendable {
  package struct Entry: Sendable, Equatable {
    package var origin: String
    package var form: ChecksumForm
    package var learnt: Timestamp
  }

  /// A store that learns to verify is asked again after this long.
  private static let lifetime: Int64 = 30 * 86_400
  private static let mostBytes = 1 << 20
  private static let header = "s3up stores 1"

  private let folder: String

  package init(folder: String) {
    self.folder = folder
  }

  private var path: String { folder + "/stores" }

  package func form(for origin: String, now: Timestamp) -> ChecksumForm? {
    entries().first { entry in
      entry.origin.utf8.elementsEqual(origin.utf8) && Self.isFresh(entry, now)
    }?.form
  }

  /// Written beside and renamed over, so that a reader finds the old list or the new. Two writers at once: the last
  /// wins, and the other's lesson is learnt again.
  package func remember(_ form: ChecksumForm, for origin: String, now: Timestamp) throws(Failure) {
    guard !origin.utf8.contains(where: { $0 <= 0x20 }) else { return }
    var kept = entries().filter {
      !$0.origin.utf8.elementsEqual(origin.utf8) && Self.isFresh($0, now)
    }
    kept.append(Entry(origin: origin, form: form, learnt: now))
    let lines = kept.map { "\($0.origin) \($0.form.word) \($0.learnt.seconds)" }
    try StateFolder.make(folder)
    try StateFolder.replace(path, with: ([Self.header] + lines).joined(separator: "\n") + "\n")
  }

  /// Nothing is taken from the entry's number, which is whatever the file says.
  private static func isFresh(_ entry: Entry, _ now: Timestamp) -> Bool {
    entry.learnt.seconds > now.seconds - lifetime
  }

  private func entries() -> [Entry] {
    guard let text = StateFolder.read(path, limit: Self.mostBytes) else { return [] }
    let lines = text.split(separator: "\n")
    guard lines.first?.utf8.elementsEqual(Self.header.utf8) == true else { return [] }
    return lines.dropFirst().compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let form = ChecksumForm(word: String(words[1])), let seconds = Int64(words[2]) else {
        return nil
      }
      return Entry(origin: String(words[0]), form: form, learnt: Timestamp(seconds: seconds))
    }
  }
}

extension ChecksumForm {
  var word: String {
    switch self {
    case .algorithm(let algorithm): algorithm.rawValue
    case .md5: "md5"
    case .none: "none"
    }
  }

  init?(word: String) {
    switch word {
    case "md5": self = .md5
    case "none": self = .none
    default:
      guard let algorithm = ChecksumAlgorithm(rawValue: word) else { return nil }
      self = .algorithm(algorithm)
    }
  }
}
