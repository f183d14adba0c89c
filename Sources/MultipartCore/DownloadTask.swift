/// A download that can be watched and stopped.
///
///     let download = try store.downloadTask("disk.img", to: .file("disk.img"))
///     print(try await download.run().evidence)
public final class DownloadTask: Sendable {
  let downloader: Downloader
  private let options: DownloadOptions
  private let tap: EventTap<DownloadEvent>

  init(_ downloader: Downloader, _ options: DownloadOptions, _ tap: EventTap<DownloadEvent>) {
    (self.downloader, self.options, self.tap) = (downloader, options, tap)
  }

  /// The progress; can be read at any time.
  public var progress: UploadState {
    UploadState(downloader.progress, activity: downloader.client.activity(of: downloader.progress))
  }

  /// What happens, for one reader; it ends when the run does. Of events that are not read only the newest are kept.
  public var events: AsyncStream<DownloadEvent> { tap.events }

  /// Runs the download; call it once. Cancelling the calling task stops it.
  public func run() async throws(Failure) -> DownloadedObject {
    try tap.begin()
    defer { tap.finish() }
    return try await downloader.run.perform(deadline: options.deadline) { [downloader] () throws(Failure) in
      try await downloader.runAlone()
    }
  }

  /// Kills a command that receives the object, at once.
  public func kill() { downloader.kill() }

  /// Stops the download; can be called from anywhere. What was written to a file is kept for the next run.
  public func cancel() { downloader.run.interrupt() }
}

extension Store {
  /// Downloads an object to a file or a descriptor, in parallel ranges, and proves that the bytes are the object's
  /// before the file gets its name. The next download to the same file resumes an interrupted one.
  ///
  ///     let object = try await store.download("images/disk.img", to: .file("disk.img"))
  ///     print(object.evidence)
  @discardableResult
  public func download(
    _ key: String, to output: DownloadOutput, _ options: DownloadOptions = DownloadOptions(),
    onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
  ) async throws(Failure) -> DownloadedObject {
    try await downloadTask(key, to: output, options, onEvent: onEvent).run()
  }

  /// A download to a file or a descriptor that can be watched and stopped.
  public func downloadTask(
    _ key: String, to output: DownloadOutput, _ options: DownloadOptions = DownloadOptions(),
    onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
  ) throws(Failure) -> DownloadTask {
    let tap = EventTap(onEvent)
    return DownloadTask(try Downloader(self, key: key, output, options, tell: tap.tell), options, tap)
  }
}
