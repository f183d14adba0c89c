extension ListMultipartUploads {
  /// Reads the pages of a list. Stores send uploads unsorted or twice, and markers that are empty, missing or never
  /// change.
  ///
  ///     var pages = ListMultipartUploads.Pages()
  ///     var marker: ListMultipartUploads.Marker?
  ///     repeat { marker = pages.add(try await page(after: marker)) } while marker != nil
  ///
  /// It always ends: no marker is requested twice, two pages in a row without a new upload end it, and `limit` bounds the
  /// list.
  struct Pages: Sendable {
    /// An upload's identity, in bytes, because two keys that Unicode considers equal are two keys.
    private struct Identity: Hashable {
      var key: [UInt8]
      var uploadID: [UInt8]

      init(_ key: String, _ uploadID: String) {
        self.key = Array(key.utf8)
        self.uploadID = Array(uploadID.utf8)
      }
    }

    private let limit: Int
    private var seen: Set<Identity> = []
    private var asked: Set<Identity> = []
    private var pagesWithoutNews = 0
    /// Each upload once, in the store's order.
    private(set) var uploads: [Upload] = []
    /// False if the store has more than was read.
    private(set) var isComplete = true

    init(limit: Int = 10_000) {
      self.limit = limit
    }

    /// Adds a page, and returns the marker of the next one, or nil at the end.
    mutating func add(_ page: Page) -> Marker? {
      let before = uploads.count
      for upload in page.uploads where uploads.count < limit {
        if seen.insert(Identity(upload.key, upload.uploadID)).inserted { uploads.append(upload) }
      }
      guard !page.isCut else {
        isComplete = false
        return nil
      }
      pagesWithoutNews = uploads.count > before ? 0 : pagesWithoutNews + 1
      let key = page.nextKeyMarker.flatMap { $0.isEmpty ? nil : $0 }
      let id = page.nextUploadIDMarker.flatMap { $0.isEmpty ? nil : $0 }
      guard page.isTruncated ?? (key != nil || page.uploads.count >= S3Limits.pageLength) else { return nil }
      let marker =
        key.map { Marker(key: $0, uploadID: id) }
        ?? page.uploads.last.map { Marker(key: $0.key, uploadID: $0.uploadID) }
      guard let marker, uploads.count < limit, pagesWithoutNews < 2,
        asked.insert(Identity(marker.key, marker.uploadID ?? "")).inserted
      else {
        isComplete = page.isTruncated != true
        return nil
      }
      return marker
    }
  }
}
