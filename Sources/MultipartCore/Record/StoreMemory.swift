import Glibc

/// What is known of one store.
package struct StoreLessons: Sendable {
  let all: [StoreLesson]
  /// Why what is written of stores is not believed: somebody else could have written it.
  package var refusal: Failure?

  /// The strongest form of checksum that it verifies.
  package var form: ChecksumForm? {
    all.lazy.compactMap { lesson in if case .verifies(let form) = lesson { form } else { nil } }.first
  }

  package var line: LineClass? {
    all.lazy.compactMap { lesson in if case .line(let line) = lesson { line } else { nil } }.first
  }

  package func contain(_ lesson: StoreLesson) -> Bool { all.contains { $0.isAbout(lesson) } }
}

/// What was learnt of stores, kept between runs in the state folder. One line for each lesson, with its moment; what
/// cannot be read, is too old, or is of the future is as good as not known.
package struct StoreMemory: Sendable {
  package struct Entry: Sendable, Equatable {
    package var origin: String
    package var lesson: StoreLesson
    package var learnt: Timestamp
  }

  /// A store that learns to verify is asked again after this long.
  private static let lifetime: Int64 = 30 * 86_400
  /// Clocks differ; a lesson from further ahead would never end.
  private static let ahead: Int64 = 86_400
  private static let mostBytes = 1 << 20
  private static let header = "s3up stores 1"

  private let folder: String

  package init(folder: String) {
    self.folder = folder
  }

  private static let name = "stores"

  package func lessons(of origin: String, now: Timestamp) -> StoreLessons {
    do throws(Failure) {
      return StoreLessons(all: try entries(of: origin).filter { Self.isFresh($0, now) }.map(\.lesson))
    } catch {
      return StoreLessons(all: [], refusal: error.code == .configuration ? error : nil)
    }
  }

  /// Written beside and renamed over, so that a reader finds the old list or the new. Two writers at once: the last
  /// wins, and the other's lesson is learnt again.
  package func remember(_ lesson: StoreLesson, of origin: String, now: Timestamp) throws(Failure) {
    guard lesson.word != nil, !origin.utf8.contains(where: { $0 <= 0x20 }) else { return }
    // What cannot be believed is replaced.
    var kept = ((try? entries()) ?? []).filter {
      Self.isFresh($0, now) && !($0.origin.utf8.elementsEqual(origin.utf8) && $0.lesson.isAbout(lesson))
    }
    kept.append(Entry(origin: origin, lesson: lesson, learnt: now))
    let lines = kept.compactMap { entry in entry.lesson.word.map { "\(entry.origin) \($0) \(entry.learnt.seconds)" } }
    let text = ([Self.header] + lines).joined(separator: "\n") + "\n"
    _ = try RecordFolder.makeHome(in: folder).replace(Self.name, with: Array(text.utf8))
  }

  /// Nothing is taken from the entry's number, which is whatever the file says.
  private static func isFresh(_ entry: Entry, _ now: Timestamp) -> Bool {
    entry.learnt.seconds > now.seconds - lifetime && entry.learnt.seconds <= now.seconds + ahead
  }

  /// All, or those of one origin. Bytes, because each start reads the file, and cutting up a text costs much.
  private func entries(of origin: String? = nil) throws(Failure) -> [Entry] {
    guard let bytes = try RecordFolder.home(in: folder)?.file(Self.name, O_RDONLY)?.read(most: Self.mostBytes + 1),
      bytes.count <= Self.mostBytes
    else { return [] }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    guard lines.first?.elementsEqual(Self.header.utf8) == true else { return [] }
    return lines.dropFirst().compactMap { line in
      if let origin, !line.starts(with: origin.utf8) { return nil }
      let words = line.split(separator: UInt8(ascii: " "))
      if let origin, words.first?.elementsEqual(origin.utf8) != true { return nil }
      let texts = words.map { String(decoding: $0, as: UTF8.self) }
      guard texts.count == 3, let lesson = StoreLesson(word: texts[1]), let seconds = Int64(texts[2]) else {
        return nil
      }
      return Entry(origin: texts[0], lesson: lesson, learnt: Timestamp(seconds: seconds))
    }
  }
}
