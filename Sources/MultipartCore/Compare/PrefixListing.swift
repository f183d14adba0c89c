import MultipartBasics

/// The list of the objects below a prefix, for a caller that looks up keys in the order of their bytes: pages are read as
/// the keys advance, and only one is in memory.
///
/// A store's list is trusted only while it is in order. Then it cannot repeat itself, and a key that is not between its
/// neighbours does not exist.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
final class PrefixListing: @unchecked Sendable {
  enum Found: Sendable, Equatable {
    case listed(ListedObject)
    case absent
    /// The list cannot be used to answer that.
    case unknown
  }

  /// Where the next page begins.
  private enum Next {
    case token(String)
    case after(String)
    case end
    case useless
  }

  private let client: S3Client
  private let policy: RetryPolicy
  private let list: ListObjects
  private var page: ArraySlice<ListedObject> = []
  /// The key that was asked for or listed last: no key of the next page is at or before it.
  private var floor = ""
  private var next: Next
  private var hasHit = true
  private var emptyPages = 0
  private var lastWanted = ""

  /// How many consecutive pages may contain no object: some stores return such pages while they skip deleted objects.
  private static let mostEmptyPages = 10

  init(client: S3Client, _ bucket: BucketAddress, prefix: String, retrying policy: RetryPolicy) {
    self.client = client
    self.policy = policy
    list = ListObjects(bucket, prefix: prefix)
    next = .after("")
  }

  func find(_ key: String) async -> Found {
    if case .useless = next { return .unknown }
    guard key.begins(with: (list.prefix ?? "")) else { return .unknown }
    guard !Self.isBefore(key, lastWanted) else { return giveUp("the files are not in the order of their keys") }
    lastWanted = key
    while true {
      while let first = page.first, Self.isBefore(first.key, key) { page.removeFirst() }
      if let first = page.first {
        guard first.key.utf8.elementsEqual(key.utf8) else { return .absent }
        hasHit = true
        return .listed(first)
      }
      if case .end = next { return .absent }
      do throws(Failure) {
        if let reason = try await turnPage(towards: key) { return giveUp(reason) }
      } catch {
        return giveUp(error.message.description)
      }
    }
  }

  /// Reads the next page. Returns the reason if the list cannot be trusted.
  private func turnPage(towards key: String) async throws(Failure) -> String? {
    var list = list
    // The caller asks for no key before this one, so the pages up to it can be skipped. Otherwise a run of ten files
    // would read every page of ten million objects.
    let near = Self.before(key)
    if !hasHit, Self.isBefore(floor, near) { next = .after(near) }
    switch next {
    case .token(let token): list.token = token
    case .after(let text):
      list.startAfter = text
      floor = text
    case .end, .useless: return nil
    }
    let answer = try await client.perform(list, retrying: policy)
    guard !answer.isCut else { return "its pages are too long" }
    guard !answer.areKeysDoubtful else { return "it does not say whether its keys are encoded" }
    let last = floor
    for object in answer.objects {
      guard Self.isBefore(floor, object.key), object.key.begins(with: (list.prefix ?? "")) else {
        return "its keys are not in order"
      }
      floor = object.key
    }
    emptyPages = answer.objects.isEmpty ? emptyPages + 1 : 0
    guard emptyPages < Self.mostEmptyPages else { return "it has too many pages without an object" }
    page = answer.objects[...]
    hasHit = false
    switch answer.next {
    case .end: next = .end
    case .token(let token): next = .token(token)
    case .version, .unnamed:
      guard Self.isBefore(last, floor) else { return "it does not say where its next page begins" }
      next = .after(floor)
    }
    return nil
  }

  private func giveUp(_ reason: String) -> Found {
    (next, page) = (.useless, [])
    client.world.log(
      1,
      "the list of s3://\(list.bucket.name)/\(SafeText.oneLine(list.prefix ?? "")) is not used: \(reason); objects are looked up one by one"
    )
    return .unknown
  }

  /// A text that is shortly before the key in the list's order.
  private static func before(_ key: String) -> String {
    String(String.UnicodeScalarView(key.unicodeScalars.dropLast()))
  }

  /// S3 orders keys by the bytes of their UTF-8.
  private static func isBefore(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
}
