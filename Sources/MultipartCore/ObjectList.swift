/// The objects of a bucket below a prefix, read page by page: only two pages are in memory, and the next page is
/// requested while the current one is being used.
///
///     for try await entry in store.list(prefix: "images/") {
///       print(entry.key)
///     }
///
/// Each loop asks the store anew. Entries come in the store's order: S3 sorts by the bytes of the keys.
public struct ObjectList: AsyncSequence, Sendable {
  /// An object or a folder.
  public typealias Element = ListedEntry
  /// Why the list could not be read to its end.
  public typealias Failure = MultipartCore.Failure

  let store: Store
  let prefix: String
  let delimiter: String?
  let versions: Bool

  /// Requests the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(pages: ListReader(self)) }

  /// The same page by page, as they arrive; a page may be empty.
  public var pages: Pages { Pages(list: self) }

  /// The pages of a list.
  public struct Pages: AsyncSequence, Sendable {
    /// The entries of a page.
    public typealias Element = [ListedEntry]
    /// Why the list could not be read to its end.
    public typealias Failure = MultipartCore.Failure

    let list: ObjectList

    /// Requests the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: ListReader(list)) }

    /// Returns the pages one by one.
    public struct Iterator: AsyncIteratorProtocol {
      let reader: ListReader

      /// The next page; nil at the end of the list.
      public mutating func next() async throws(Failure) -> [ListedEntry]? { try await reader.next() }
    }
  }

  /// Returns the entries one by one.
  public struct Iterator: AsyncIteratorProtocol {
    let pages: ListReader
    private var page: ArraySlice<ListedEntry> = []

    init(pages: ListReader) { self.pages = pages }

    /// The next entry; nil at the end of the list.
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
  /// The objects whose keys begin with `prefix`. With a delimiter, usually `/`, keys that contain it after the prefix
  /// are not listed individually, but as the folder that they share. With `versions` all versions of each object are
  /// listed, including delete markers.
  ///
  /// A list that never ends because it repeats itself is a failure.
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
      else { throw Failure(.server, "the store's list of buckets never ends") }
      list.token = page.nextToken
    } while list.token != nil
    return buckets
  }

  /// The prefix to list: a directory bucket lists only whole folders, so what it lists may still have to be filtered by
  /// the given prefix.
  func listable(_ prefix: String) -> String {
    guard isDirectoryBucket else { return prefix }
    let folder = prefix.utf8.lastIndex(of: UInt8(ascii: "/")).map { prefix[...$0] }
    return String(folder ?? "")
  }
}
