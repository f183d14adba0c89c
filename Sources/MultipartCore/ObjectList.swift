/// The objects of a bucket below a prefix, read page by page: only two pages are in memory, and the next one is asked for
/// while the former is used.
///
///     for try await entry in store.list(prefix: "images/") {
///       print(entry.key)
///     }
///
/// Each loop asks the store anew. The order is that of the store: at S3 that of the keys' bytes.
public struct ObjectList: AsyncSequence, Sendable {
  /// An object or a folder.
  public typealias Element = ListedEntry
  /// Why the list could not be read to its end.
  public typealias Failure = MultipartCore.Failure

  let store: Store
  let prefix: String
  let delimiter: String?
  let versions: Bool

  /// Asks the store for the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(pages: ListReader(self)) }

  /// Page by page, as they come.
  package func pages() -> ListReader { ListReader(self) }

  /// Gives the entries one by one.
  public struct Iterator: AsyncIteratorProtocol {
    let pages: ListReader
    private var page: ArraySlice<ListedEntry> = []

    init(pages: ListReader) { self.pages = pages }

    /// Nil at the end of the list.
    public mutating func next() async throws(Failure) -> ListedEntry? {
      while page.isEmpty {
        guard let next = try await pages.next() else { return nil }
        page = next[...]
      }
      return page.popFirst()
    }
  }
}

extension Store {
  /// The objects whose keys begin with `prefix`. With a delimiter, `/` as a rule, keys that have it behind the prefix are
  /// not listed one by one, but as the folder that they have in common. With `versions` all versions of each object are
  /// listed, and the places where it was deleted.
  ///
  /// A list that cannot come to an end, because it repeats itself, ends with a failure.
  public func list(prefix: String = "", delimiter: String? = nil, versions: Bool = false) -> ObjectList {
    ObjectList(store: self, prefix: prefix, delimiter: delimiter, versions: versions)
  }

  /// The buckets that the credentials may list, in the store's order.
  public static func buckets(_ options: StoreOptions = StoreOptions()) async throws(Failure) -> [ListedBucket] {
    let store = try await Store(of: nil, options)
    var list = ListBuckets()
    var buckets: [ListedBucket] = []
    repeat {
      let page = try await store.client.perform(list, retrying: store.retry)
      buckets += page.buckets
      guard page.nextToken == nil || (page.nextToken != list.token && !page.buckets.isEmpty && buckets.count < 100_000)
      else { throw Failure(.server, "the store's list of buckets does not come to an end") }
      list.token = page.nextToken
    } while list.token != nil
    return buckets
  }

  /// A directory bucket lists folders only: the longest prefix that every bucket can list. What is listed may have to be
  /// selected by the whole one.
  func listable(_ prefix: String) -> String {
    guard endpoint.kind == .directory else { return prefix }
    let folder = prefix.utf8.lastIndex(of: UInt8(ascii: "/")).map { prefix[...$0] }
    return String(folder ?? "")
  }
}
