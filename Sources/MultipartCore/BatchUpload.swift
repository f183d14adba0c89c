/// An upload of many objects over one window of connections, which can be watched and stopped. If one object fails, the
/// others continue.
///
///     let batch = store.batch([UploadItem(.file("a"), to: "a"), UploadItem(.file("b"), to: "b")])
///     let summary = try await batch.run()
///     print(summary.uploaded, summary.failed)
public final class BatchUpload: BatchRun {
  private let tap: EventTap<BatchEvent>
  private let batch: ObjectBatch<UploadMaking>

  init(
    _ maker: any UploaderMaking, _ options: BatchOptions, driver: RunDriver<Uploader>,
    find: @escaping Finder<Candidate>, onEvent: @escaping @Sendable (BatchEvent) -> Void
  ) {
    let tap = EventTap(onEvent)
    self.tap = tap
    batch = ObjectBatch(
      UploadMaking(maker: maker, options: options), deadline: options.upload.deadline,
      stopsAtFirstFailure: options.stopsAtFirstFailure, driver: driver, find: find, onEvent: tap.tell)
  }

  /// The progress; can be read at any time.
  public var progress: BatchState { batch.progress }

  /// What happens, for one reader; it ends when the run does. Of events that are not read only the newest are kept.
  public var events: AsyncStream<BatchEvent> { tap.events }

  /// Stops the run; can be called from anywhere.
  public func cancel() { batch.cancel() }

  /// Runs the upload; call it once. Cancelling the calling task stops the run. Throws if the sources cannot be read to
  /// their end, if the run is cancelled, or at its deadline; the outcome of each object is reported as an event.
  public func run() async throws(Failure) -> BatchSummary {
    try tap.begin()
    defer { tap.finish() }
    return try await batch.run()
  }
}
