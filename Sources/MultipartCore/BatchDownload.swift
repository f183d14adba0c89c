/// How a run downloads its objects.
public struct BatchDownloadOptions: Sendable {
  /// The options of each object's download; the deadline applies to the whole run.
  public var download = DownloadOptions()
  /// Stops the run when one object fails.
  public var stopsAtFirstFailure = false
  /// Finds out what would be written, without writing anything.
  public var onlyLooks = false
  /// The manifest and the other files that the run writes.
  public var outputs = RunOutputs()

  /// The defaults.
  public init() {}
}

/// A download of many objects into a folder over one window of connections, which can be watched and stopped. If one
/// object fails, the others continue. A file appears under its name only once it is whole and proven, and no key can
/// lead to a file outside the folder.
///
///     let images = DownloadSources(.below(["images/"]), prefix: "images/")
///     let batch = try store.downloads(images, into: FilePath("images")) { event in print(event) }
///     print(try await batch.run().downloaded)
public final class BatchDownload: BatchRun {
  private let tap: EventTap<BatchEvent>
  private let batch: ObjectBatch<DownloadMaking>

  init(
    _ maker: DownloadMaking, _ options: BatchDownloadOptions, driver: RunDriver<Downloader>,
    find: @escaping Finder<WantedObject>, onEvent: @escaping @Sendable (BatchEvent) -> Void
  ) {
    let tap = EventTap(onEvent)
    self.tap = tap
    batch = ObjectBatch(
      maker, deadline: options.download.deadline, stopsAtFirstFailure: options.stopsAtFirstFailure, driver: driver,
      find: find, onEvent: tap.tell)
  }

  /// The progress; can be read at any time.
  public var progress: BatchState { batch.progress }

  /// What happens, for one reader; it ends when the run does. Of events that are not read only the newest are kept.
  public var events: AsyncStream<BatchEvent> { tap.events }

  /// Stops the run; can be called from anywhere. The bytes that have arrived are kept for the next run.
  public func cancel() { batch.cancel() }

  /// Runs the download; call it once. Cancelling the calling task stops the run. Throws if the list of objects cannot
  /// be read to its end, if the run is cancelled, or at its deadline; the outcome of each object is reported as an
  /// event.
  public func run() async throws(Failure) -> BatchSummary {
    try tap.begin()
    defer { tap.finish() }
    return try await batch.run()
  }
}

extension Store {
  /// Downloads the objects that the sources find into a folder, which is created if it does not exist, in one run that
  /// starts with `run()`. If that run fails, the next one of the same sources skips the files that it completed.
  public func downloads(
    _ sources: DownloadSources, into folder: FilePath, _ options: BatchDownloadOptions = BatchDownloadOptions(),
    onEvent: @escaping @Sendable (BatchEvent) -> Void = { _ in }
  ) throws(Failure) -> BatchDownload {
    try check(options.download)
    let tree = TargetTree(folder, makes: !options.onlyLooks)
    let record = options.onlyLooks ? nil : runRecord(of: ["get", folder.absolute.text] + sources.identity)
    let driver = RunDriver<Downloader>(
      settings.transfer.scheduling(hedges: options.download.hedges, line: lessons()?.line, world: world),
      transport: client.transport, origin: signer.origin, world: world, ahead: 2 * max(settings.transfer.concurrency, 8)
    )
    return BatchDownload(
      DownloadMaking(self, options, tree, record), options, driver: driver,
      find: { [self] give in
        try await sources.find(in: self) { step in
          if case .candidate = step, !tree.open() { return false }
          return await give(step)
        }
        if let trouble = tree.trouble { throw trouble }
      }, onEvent: onEvent)
  }

  func check(_ options: DownloadOptions) throws(Failure) {
    try checkKey(options.customerKey)
    if let range = options.range {
      guard range.lowerBound >= 0 else { throw Failure(.usage, "a range begins at 0 or later") }
      guard options.part == nil else { throw Failure(.usage, "a range and a part exclude each other") }
    }
    if let part = options.part { try S3Limits.check(partNumber: part, of: Place()) }
    if let size = options.partSize, !DownloadOptions.partSizes.contains(size) {
      throw Failure(.usage, "a \(.partSize) of \(size) bytes is not from 64 KiB to 5 GiB")
    }
  }
}
