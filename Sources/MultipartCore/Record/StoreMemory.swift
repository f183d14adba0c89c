import Glibc

/// What was learnt of stores, kept between runs in the state folder. One line for each lesson; what cannot be read is as
/// good as not known.
package struct StoreMemory: Sendable {
  package struct Entry: Sendable, Equatable {
    package var origin: String
    package var lesson: StoreLesson
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
    lessons(of: origin, now: now).lazy.compactMap { lesson in
      if case .verifies(let form) = lesson { form } else { nil }
    }.first
  }

  package func line(to origin: String, now: Timestamp) -> LineClass? {
    lessons(of: origin, now: now).lazy.compactMap { lesson in
      if case .line(let line) = lesson { line } else { nil }
    }.first
  }

  package func knows(_ lesson: StoreLesson, of origin: String, now: Timestamp) -> Bool {
    lessons(of: origin, now: now).contains { $0.isAbout(lesson) }
  }

  private func lessons(of origin: String, now: Timestamp) -> [StoreLesson] {
    entries().filter { $0.origin.utf8.elementsEqual(origin.utf8) && Self.isFresh($0, now) }.map(\.lesson)
  }

  /// Written beside and renamed over, so that a reader finds the old list or the new. Two writers at once: the last
  /// wins, and the other's lesson is learnt again.
  package func remember(_ lesson: StoreLesson, of origin: String, now: Timestamp) throws(Failure) {
    guard lesson.word != nil, !origin.utf8.contains(where: { $0 <= 0x20 }) else { return }
    var kept = entries().filter {
      Self.isFresh($0, now) && !($0.origin.utf8.elementsEqual(origin.utf8) && $0.lesson.isAbout(lesson))
    }
    kept.append(Entry(origin: origin, lesson: lesson, learnt: now))
    let lines = kept.compactMap { entry in entry.lesson.word.map { "\(entry.origin) \($0) \(entry.learnt.seconds)" } }
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
      guard words.count == 3, let lesson = StoreLesson(word: String(words[1])), let seconds = Int64(words[2]) else {
        return nil
      }
      return Entry(origin: String(words[0]), lesson: lesson, learnt: Timestamp(seconds: seconds))
    }
  }
}
