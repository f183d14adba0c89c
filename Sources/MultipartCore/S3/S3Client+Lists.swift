/// Complete lists, read page by page.
extension S3Client {
  struct PartListing: Sendable {
    /// The parts, sorted by number.
    var parts: [ListParts.Part]
    /// What the upload was created with, if the store says so.
    var checksumAlgorithm: String?
    var checksumType: String?
    /// False if reading stopped before the end of the store's list, or a part of it could not be read.
    var isComplete: Bool
    /// The store's clock at its last answer.
    var date: Timestamp?
  }

  func allParts(
    _ list: ListParts, retrying policy: RetryPolicy = RetryPolicy(tries: 1)
  ) async throws(Failure) -> PartListing {
    var (list, pages) = (list, ListParts.Pages())
    var algorithm: String?
    var type: String?
    var date: Timestamp?
    repeat {
      let page = try await perform(list, retrying: policy)
      algorithm = algorithm ?? page.checksumAlgorithm
      type = type ?? page.checksumType
      date = page.date ?? date
      list.marker = pages.add(page)
    } while list.marker != nil
    return PartListing(
      parts: pages.parts, checksumAlgorithm: algorithm, checksumType: type, isComplete: pages.isComplete, date: date)
  }

  struct UploadListing: Sendable {
    var uploads: [ListMultipartUploads.Upload]
    /// False if reading stopped before the end of the store's list.
    var isComplete: Bool
    /// The store's clock at its last answer.
    var date: Timestamp?
  }

  func allUploads(
    _ list: ListMultipartUploads, retrying policy: RetryPolicy = RetryPolicy(tries: 1), mostPages: Int = .max
  ) async throws(Failure) -> UploadListing {
    var (list, pages) = (list, ListMultipartUploads.Pages())
    var date: Timestamp?
    var left = mostPages
    repeat {
      let page = try await perform(list, retrying: policy)
      date = page.date ?? date
      list.marker = pages.add(page)
      left -= 1
    } while list.marker != nil && left > 0
    return UploadListing(
      uploads: pages.uploads, isComplete: pages.isComplete && list.marker == nil, date: date)
  }

  /// The unfinished uploads of one key, from at most two pages, because other clients may have begun any number.
  func uploads(
    ofKey key: String, _ list: ListMultipartUploads
  ) async throws(Failure) -> UploadListing {
    var listing = try await allUploads(list, mostPages: 2)
    listing.uploads.removeAll { upload in !upload.keys.contains { $0.utf8.elementsEqual(key.utf8) } }
    return listing
  }
}
