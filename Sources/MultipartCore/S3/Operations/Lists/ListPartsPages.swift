extension ListParts {
  /// Reads the pages of a list, whatever markers the store sends: they may be missing, name the first part of the next
  /// page instead of the last of this one, or never change.
  ///
  ///     var pages = ListParts.Pages()
  ///     var next: Int? = 0
  ///     while let marker = next {
  ///       next = pages.add(try await page(after: marker))
  ///     }
  ///
  /// It always ends: the next page is requested only if the marker has grown and the last page brought a part, and
  /// there are at most 1,000 pages: those of S3 have 1,000 parts each, and no upload has more than 10,000.
  struct Pages: Sendable {
    private var byNumber: [Int: Part] = [:]
    private static let mostPages = 1000
    private var marker = 0
    private var pages = 0
    /// False if reading stopped although the store said that there is more, or if a part could not be read.
    var isComplete: Bool { hasEnd && isReadable }
    private var hasEnd = true
    private var isReadable = true

    init() {}

    /// The parts in order, each number once.
    var parts: [Part] { byNumber.values.sorted { $0.number < $1.number } }

    /// Adds a page, and returns the marker of the next one, or nil at the end.
    mutating func add(_ page: Page) -> Int? {
      let before = byNumber.count
      isReadable = isReadable && page.isReadable
      var highest = 0
      for part in page.parts where S3Limits.partNumbers.contains(part.number) {
        highest = max(highest, part.number)
        if byNumber[part.number] == nil { byNumber[part.number] = part }
      }
      // If the store does not say whether the list ends, a marker or a full page means that there may be more.
      let mayHaveMore = page.isTruncated ?? ((page.nextMarker ?? 0) > marker || page.parts.count >= S3Limits.pageLength)
      guard mayHaveMore else { return nil }
      let next = [page.nextMarker, highest].compactMap { $0 }.first { $0 > marker && $0 < S3Limits.mostParts }
      pages += 1
      guard let next, byNumber.count > before, pages < Self.mostPages else {
        // There is nothing after part 10,000, whatever the store says.
        hasEnd = page.isTruncated != true || byNumber[S3Limits.mostParts] != nil && byNumber.count > before
        return nil
      }
      marker = next
      return next
    }
  }
}
