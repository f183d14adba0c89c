import MultipartBasics

/// A run's store and those of the other buckets that its items name, each made once.
final class Siblings: Sendable {
  let own: Store
  private let others = Locked<[[UInt8]: Store]>([:])

  init(of store: Store) { own = store }

  func store(of item: UploadItem) async throws(Failure) -> Store {
    guard let bucket = item.bucket, !bucket.utf8.elementsEqual(own.bucket.utf8) || item.region != nil else {
      return own
    }
    let name = Array((bucket + "\n" + (item.region ?? "")).utf8)
    if let known = others.withLock({ $0[name] }) { return known }
    let made = try await own.sibling(bucket: bucket, region: item.region)
    others.withLock { $0[name] = made }
    return made
  }
}
