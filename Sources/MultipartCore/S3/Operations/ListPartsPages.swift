extension ListParts {
  /// Walks the pages of a list, whatever the store makes of markers: they can be missing, name the first part of the
  /// next page instead of the last of this one, or stand still.
  ///
  ///     var pages = ListParts.Pages()
  ///     var next: Int? = 0
  ///     while let marker = next {
  ///       next = pages.add(try await page(after: marker))
  ///     }
  ///
  /// It ends always: a page is asked for only behind a marker that has grown, and after a page that brought something,
  /// and no more than 1,000 of them: S3's have 1,000 parts each, and no upload more than 10,000.
  package struct Pages: Sendable {
    private var byNumber: [Int: Part] = [:]
    private static let mostPages = 1000
    private var marker = 0
    private var pages = 0
    /// False when the walk ended though the store said that there is more.
    package private(set) var isComplete = true

    package init() {}

    /// Each number once, in order.
    package var parts: [Part] { byNumber.values.sorted { $0.number < $1.number } }

    /// Takes a page in, and gives the marker of the next one, or nil when there is none to ask for.
    package mutating func add(_ page: Page) -> Int? {
      let before = byNumber.count
      var highest = 0
      for part in page.parts where S3Limits.partNumbers.contains(part.number) {
        highest = max(highest, part.number)
        if byNumber[part.number] == nil { byNumber[part.number] = part }
      }
      // Without a word about an end, a marker or a full page says that there may be more.
      let mayHaveMore = page.isTruncated ?? ((page.nextMarker ?? 0) > marker || page.parts.count >= 1000)
      guard mayHaveMore else { return nil }
      let next = [page.nextMarker, highest].compactMap { $0 }.first { $0 > marker && $0 < S3Limits.mostParts }
      pages += 1
      guard let next, byNumber.count > before, pages < Self.mostPages else {
        // Behind part 10,000 there is nothing, whatever the store says.
        isComplete = page.isTruncated != true || byNumber[S3Limits.mostParts] != nil && byNumber.count > before
        return nil
      }
      marker = next
      return next
    }
  }
}
