/// The bytes of an object, in order, in pieces of at most a range (`partSize`, else 4 MiB), as they arrive.
///
///     for try await piece in store.bytes(of: "notes.txt") { use(piece) }
///
/// The last piece is returned only once all bytes are proven to be the object's. If they are not, or the download
/// fails, the loop throws a ``Failure`` instead, so do not act on earlier pieces until the loop has finished without an
/// error. At most 64 MiB are loaded ahead of a slow loop, or two ranges if these are larger. Leaving the loop early, or
/// cancelling its task, ends the download.
public struct ObjectBytes: AsyncSequence, Sendable {
  /// A piece.
  public typealias Element = [UInt8]
  /// Why a loop ends early.
  public typealias Failure = MultipartCore.Failure

  let begin: @Sendable (ByteFeed) throws(Failure) -> DownloadTask

  /// Starts a download; each loop over the sequence starts its own.
  public func makeAsyncIterator() -> Iterator { Iterator(begin) }

  /// Downloads the object as pieces are requested.
  public final class Iterator: AsyncIteratorProtocol {
    /// Why a loop ends early.
    public typealias Failure = MultipartCore.Failure

    private let begin: @Sendable (ByteFeed) throws(MultipartCore.Failure) -> DownloadTask
    private let feed = ByteFeed()
    private var run: Task<Result<DownloadedObject, Failure>, Never>?
    private var isOver = false
    /// The object, once all its bytes were returned.
    private(set) var object: DownloadedObject?

    init(_ begin: @escaping @Sendable (ByteFeed) throws(Failure) -> DownloadTask) { self.begin = begin }

    deinit {
      feed.stop()
      run?.cancel()
    }

    /// The next piece; nil after the last one.
    public func next() async throws(Failure) -> [UInt8]? {
      guard !isOver else { return nil }
      let run = if let begun = self.run { begun } else { try start() }
      let piece = await withTaskCancellationHandler {
        await feed.next()
      } onCancel: {
        run.cancel()
      }
      if let piece { return piece }
      isOver = true
      object = try await run.value.get()
      return nil
    }

    private func start() throws(Failure) -> Task<Result<DownloadedObject, Failure>, Never> {
      let download = try begin(feed)
      let task = Task { [feed] () async -> Result<DownloadedObject, Failure> in
        defer { feed.stop() }
        do throws(Failure) {
          return .success(try await download.run())
        } catch {
          return .failure(error)
        }
      }
      run = task
      return task
    }
  }
}

extension Store {
  /// The bytes of an object, loaded in parallel ranges. Nothing is written; ``DownloadOptions/overwrites`` and its siblings
  /// have no meaning.
  public func bytes(of key: String, _ options: DownloadOptions = DownloadOptions()) -> ObjectBytes {
    ObjectBytes { (feed) throws(Failure) in try self.downloadTask(key, to: DownloadOutput(kind: .feed(feed)), options) }
  }
}
