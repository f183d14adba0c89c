extension ListMultipartUploads {
  /// Walks the pages of a list. Stores send uploads unsorted, twice, and with markers that are empty, missing or stand
  /// still.
  ///
  ///     var pages = ListMultipartUploads.Pages()
  ///     var marker: ListMultipartUploads.Marker?
  ///     repeat { marker = pages.add(try await page(after: marker)) } while marker != nil
  ///
  /// It ends always: no marker is asked for twice, two pages in a row that bring nothing new are the end, and `limit`
  /// bounds the list.
  package struct Pages: Sendable {
    /// Bytes, because two keys that look alike are two keys.
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
    /// Each upload once, as the store ordered them.
    package private(set) var uploads: [Upload] = []
    /// False when the walk ended though the store said that there is more.
    package private(set) var isComplete = true

    package init(limit: Int = 10_000) {
      self.limit = limit
    }

    /// Takes a page in, and gives the marker of the next one, or nil when there is none to ask for.
    package mutating func add(_ page: Page) -> Marker? {
      let before = uploads.count
      for upload in page.uploads where uploads.count < limit {
        if seen.insert(Identity(upload.key, upload.uploadID)).inserted { uploads.append(upload) }
      }
      pagesWithoutNews = uploads.count > before ? 0 : pagesWithoutNews + 1
      let key = page.nextKeyMarker.flatMap { $0.isEmpty ? nil : $0 }
      let id = page.nextUploadIDMarker.flatMap { $0.isEmpty ? nil : $0 }
      guard page.isTruncated ?? (key != nil || page.uploads.count >= 1000) else { return nil }
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
