import Glibc
import MultipartBasics

/// What is known about one store.
struct StoreLessons: Sendable {
  let all: [StoreLesson]
  /// Why the file is not used: another user could have written it.
  var refusal: Failure?

  /// The strongest form of checksum that it verifies.
  var form: ChecksumForm? {
    all.lazy.compactMap { lesson in if case .verifies(let form) = lesson { form } else { nil } }.first
  }

  var line: LineClass? {
    all.lazy.compactMap { lesson in if case .line(let line) = lesson { line } else { nil } }.first
  }

  func contain(_ lesson: StoreLesson) -> Bool { all.contains { $0.isAbout(lesson) } }
}

/// What was learned about stores, kept between runs in the state folder: one entry for each lesson, with its time. A
/// lesson that cannot be read, is too old, or is from the future does not count.
struct StoreMemory: Sendable {
  struct Entry: Sendable, Equatable {
    var origin: String
    var lesson: StoreLesson
    var learned: Timestamp
  }

  /// A store may start to verify checksums, so it is asked again after this time.
  private static let lifetime: Int64 = 30 * 86_400
  /// A network that loses packets or buffers today, such as a wireless one or a tunnel, may not do so tomorrow.
  private static let networkLifetime: Int64 = 86_400
  /// Clocks differ; a lesson from further in the future might never expire.
  private static let ahead: Int64 = 86_400
  private static let mostBytes = 1 << 20
  private static let header = "s3up stores 1"

  private let folder: String

  init(folder: String) {
    self.folder = folder
  }

  static let name = "stores"

  func lessons(of origin: String, now: Timestamp) -> StoreLessons {
    do throws(Failure) {
      return StoreLessons(all: try entries(of: origin).filter { Self.isFresh($0, now) }.map(\.lesson))
    } catch {
      return StoreLessons(all: [], refusal: error.code == .configuration ? error : nil)
    }
  }

  /// Stores a lesson. The file is written under a temporary name and renamed, so that readers see either the old or the
  /// new list. If two runs write at once, the last one wins, and the other's lesson is learned again.
  func remember(_ lesson: StoreLesson, of origin: String, now: Timestamp) throws(Failure) {
    guard lesson.word != nil, !origin.utf8.contains(where: { $0 <= 0x20 }) else { return }
    // A file that is not trusted is replaced.
    var kept = ((try? entries()) ?? []).filter {
      Self.isFresh($0, now) && !($0.origin.utf8.elementsEqual(origin.utf8) && $0.lesson.isAbout(lesson))
    }
    kept.append(Entry(origin: origin, lesson: lesson, learned: now))
    let texts = kept.compactMap { entry in entry.lesson.word.map { "\(entry.origin) \($0) \(entry.learned.seconds)" } }
    let text = ([Self.header] + texts).joined(separator: "\n") + "\n"
    _ = try RecordFolder.makeHome(in: folder).replace(Self.name, with: Array(text.utf8))
  }

  private static func isFresh(_ entry: Entry, _ now: Timestamp) -> Bool {
    let isOfNetwork = entry.lesson == .line(.lossy) || entry.lesson == .line(.buffered)
    return entry.learned.seconds > now.seconds - (isOfNetwork ? networkLifetime : lifetime)
      && entry.learned.seconds <= now.seconds + ahead
  }

  /// All entries, or those of one origin. It works on bytes: every start reads the file, and splitting a `String` is
  /// slow.
  private func entries(of origin: String? = nil) throws(Failure) -> [Entry] {
    guard let bytes = try RecordFolder.home(in: folder)?.file(Self.name, O_RDONLY)?.read(most: Self.mostBytes + 1),
      bytes.count <= Self.mostBytes
    else { return [] }
    let rows = bytes.split(separator: UInt8(ascii: "\n"))
    guard rows.first?.elementsEqual(Self.header.utf8) == true else { return [] }
    return rows.dropFirst().compactMap { row in
      if let origin, !row.starts(with: origin.utf8) { return nil }
      let words = row.split(separator: UInt8(ascii: " "))
      if let origin, words.first?.elementsEqual(origin.utf8) != true { return nil }
      let texts = words.map { String(decoding: $0, as: UTF8.self) }
      guard texts.count == 3, let lesson = StoreLesson(word: texts[1]), let seconds = Int64(texts[2], in: .min ... .max)
      else {
        return nil
      }
      return Entry(origin: texts[0], lesson: lesson, learned: Timestamp(seconds: seconds))
    }
  }
}
