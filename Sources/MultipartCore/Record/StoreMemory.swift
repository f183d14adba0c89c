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

  static let name = "stores"
  private let list: StateList

  init(folder: String) { list = StateList(folder: folder, name: Self.name, header: "s3up stores 1") }

  func lessons(of origin: String, now: Timestamp) -> StoreLessons {
    do throws(Failure) {
      return StoreLessons(all: try entries(of: origin).filter { Self.isFresh($0, now) }.map(\.lesson))
    } catch {
      return StoreLessons(all: [], refusal: error.code == .configuration ? error : nil)
    }
  }

  /// Stores a lesson. If two runs do so at once, one lesson is lost, and learned again.
  func remember(_ lesson: StoreLesson, of origin: String, now: Timestamp) throws(Failure) {
    guard lesson.word != nil, !origin.utf8.contains(where: { $0 <= 0x20 }) else { return }
    // A file that is not trusted is replaced.
    var kept = ((try? entries()) ?? []).filter {
      Self.isFresh($0, now) && !($0.origin.utf8.elementsEqual(origin.utf8) && $0.lesson.isAbout(lesson))
    }
    kept.append(Entry(origin: origin, lesson: lesson, learned: now))
    try list.replace(
      with: kept.compactMap { entry in entry.lesson.word.map { [entry.origin, $0, "\(entry.learned.seconds)"] } })
  }

  private static func isFresh(_ entry: Entry, _ now: Timestamp) -> Bool {
    let isOfNetwork = entry.lesson == .line(.lossy) || entry.lesson == .line(.buffered)
    return entry.learned.seconds > now.seconds - (isOfNetwork ? networkLifetime : lifetime)
      && entry.learned.seconds <= now.seconds + ahead
  }

  /// All entries, or those of one origin.
  private func entries(of origin: String? = nil) throws(Failure) -> [Entry] {
    try list.entries(of: origin).compactMap { words in
      guard words.count == 3, let lesson = StoreLesson(word: words[1]), let seconds = Int64(words[2], in: .min ... .max)
      else { return nil }
      return Entry(origin: words[0], lesson: lesson, learned: Timestamp(seconds: seconds))
    }
  }
}
