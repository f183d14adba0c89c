import MultipartBasics

/// Walks through the pages of a list, whatever the store does with prefix, delimiter and order.
///
///     while let request = walk.request {
///       show(try walk.take(try await page(request)))
///     }
///
/// It ends if the store's list does. A store that repeats pages would never end: this is detected by comparing each
/// page with the previous one, and with one that is kept for twice as long each time (Brent's algorithm), so that a
/// cycle of any length is found in bounded memory.
struct ListWalk {
  enum Request: Sendable {
    case objects(ListObjects)
    case versions(ListObjectVersions)
  }

  /// What the user should know about the list.
  enum Note: String, Sendable {
    case outside = "the store lists keys that do not begin with the prefix; they are left out"
    case doubtful =
      "the store does not say whether its list escapes keys: keys with a % may have to be written differently"
  }

  /// The request for the next page; nil at the end.
  private(set) var request: Request?
  private(set) var notes: Set<Note> = []
  private let prefix: String
  private let asked: String
  private let delimiter: String?
  private var last: ListedEntry?
  private var circle = Circle()
  private var pagesWithoutNews = 0

  /// While a store skips deleted objects, it may return many pages without any.
  private static let mostWithoutNews = 1000

  /// `asked` is the requested prefix, which `prefix` begins with.
  init(_ bucket: BucketAddress, prefix: String, asked: String, delimiter: String?, versions: Bool) {
    self.prefix = prefix
    self.asked = asked
    self.delimiter = delimiter
    request =
      versions
      ? .versions(ListObjectVersions(bucket, prefix: asked, delimiter: delimiter))
      : .objects(ListObjects(bucket, prefix: asked, delimiter: delimiter))
  }

  /// The entries of the page that `request` asked for, in the order of their keys if the store's are.
  mutating func take(_ page: ListObjects.Page) throws(Failure) -> [ListedEntry] {
    guard !page.isCut else { throw endless("has pages of more than \(10 * S3Limits.pageLength) entries") }
    if page.areKeysDoubtful { notes.insert(.doubtful) }
    let entries = news(page)
    pagesWithoutNews = entries.isEmpty ? pagesWithoutNews + 1 : 0
    request = try next(page)
    return entries
  }

  private func endless(_ what: String) -> Failure { Failure(.server, "the store's list \(what)") }

  // MARK: - Entries

  private mutating func news(_ page: ListObjects.Page) -> [ListedEntry] {
    var entries: [ListedEntry] = []
    entries.reserveCapacity(page.objects.count + page.folders.count)
    var folders = page.folders[...]
    for object in page.objects {
      while let folder = folders.first, folder.utf8.lexicographicallyPrecedes(object.key.utf8) {
        add(.folder(folder), to: &entries)
        folders.removeFirst()
      }
      add(folder(of: object.key).map { .folder($0) } ?? .object(object), to: &entries)
    }
    for folder in folders { add(.folder(folder), to: &entries) }
    return entries
  }

  /// The folder of a key, for a store that does not know delimiters.
  private func folder(of key: String) -> String? {
    guard let delimiter, let rest = key.rest(after: prefix), let found = rest.utf8.firstRange(of: delimiter.utf8)
    else { return nil }
    return String(key[..<found.upperBound])
  }

  private mutating func add(_ entry: ListedEntry, to entries: inout [ListedEntry]) {
    let key = entry.key
    guard key.begins(with: prefix) else {
      if !key.begins(with: asked) { notes.insert(.outside) }
      return
    }
    // Markers can be inclusive, and folders are repeated at the border of two pages.
    guard last?.isSame(as: entry) != true else { return }
    last = entry
    entries.append(entry)
  }

  // MARK: - The next page

  private mutating func next(_ page: ListObjects.Page) throws(Failure) -> Request? {
    guard let request, page.next != .end else { return nil }
    guard pagesWithoutNews < Self.mostWithoutNews, circle.isNew(page) else {
      throw endless("repeats itself and does not come to an end")
    }
    switch (request, page.next) {
    case (.objects(var list), .token(let token)):
      guard list.token.map({ !$0.utf8.elementsEqual(token.utf8) }) ?? true else {
        throw endless("does not go on: its next page is the same one")
      }
      list.token = token
      return .objects(list)
    case (.versions(var list), .version(let marker)):
      guard list.marker != marker else { throw endless("does not go on: its next page is the same one") }
      list.marker = marker
      return .versions(list)
    case (.objects(var list), _):
      guard let after = last?.end, list.startAfter.map({ $0.utf8.lexicographicallyPrecedes(after.utf8) }) ?? true else {
        throw endless("does not say where its next page begins")
      }
      (list.token, list.startAfter) = (nil, after)
      return .objects(list)
    case (.versions(var list), _):
      guard let last, list.marker?.key.utf8.lexicographicallyPrecedes(last.end.utf8) ?? true else {
        throw endless("does not say where its next page begins")
      }
      list.marker = .init(key: last.end)
      return .versions(list)
    }
  }

  /// Detects whether a page has been seen, by what it lists; an empty one by its token.
  private struct Circle {
    private var former: Int?
    private var kept: Int?
    private var steps = 0
    private var power = 1

    mutating func isNew(_ page: ListObjects.Page) -> Bool {
      var hasher = Hasher()
      func add(_ text: String) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0))
      }
      for object in page.objects {
        add(object.key)
        if let id = object.version?.id { add(id) }
      }
      for folder in page.folders { add(folder) }
      if page.objects.isEmpty, page.folders.isEmpty {
        add(page.nextToken ?? page.nextVersion?.key ?? "")
        add(page.nextVersion?.versionID ?? "")
      }
      let mark = hasher.finalize()
      guard mark != former, mark != kept else { return false }
      former = mark
      steps += 1
      if steps == power {
        (kept, power, steps) = (mark, 2 * power, 0)
      }
      return true
    }
  }
}

extension ListedEntry {
  /// Whether the key and version are the same.
  fileprivate func isSame(as other: ListedEntry) -> Bool {
    guard key.utf8.elementsEqual(other.key.utf8) else { return false }
    return switch (self, other) {
    case (.object(let a), .object(let b)): a.version?.id == b.version?.id
    case (.folder, .folder): true
    default: false
    }
  }

  /// Everything that is listed later comes after this text.
  fileprivate var end: String {
    switch self {
    case .object(let object): object.key
    // S3 allows this character in a key, but it is unassigned and sorts last.
    case .folder(let key): key + "\u{10FFFF}"
    }
  }
}
