/// An upload that can be watched and stopped.
///
///     let upload = try store.uploadTask(.file("disk.img"), to: "disk.img")
///     let bar = Task { while true { draw(upload.progress); try await Task.sleep(for: .seconds(1)) } }
///     defer { bar.cancel() }
///     print(try await upload.run().evidence)
public final class UploadTask: Sendable {
  let uploader: Uploader
  private let options: UploadOptions
  private let tap: EventTap<UploadEvent>

  init(_ uploader: Uploader, _ options: UploadOptions, _ tap: EventTap<UploadEvent>) {
    self.uploader = uploader
    self.options = options
    self.tap = tap
  }

  deinit { forget() }

  /// The file name of the source, without its folders.
  public var name: String { uploader.job.source.path.name }
  /// The object's bucket, as requests address it.
  public var bucket: String { uploader.job.bucket }
  /// The object's key.
  public var key: String { uploader.job.key }

  /// The progress; can be read at any time.
  public var progress: UploadState { UploadState(uploader) }

  /// What happens, for one reader; it ends when the run does. Of events that are not read only the newest are kept.
  public var events: AsyncStream<UploadEvent> { tap.events }

  /// Runs the upload; call it once. Cancelling the calling task stops the upload. With `keepsRecord` the record and the
  /// lock of a successful upload remain until ``forget()``.
  public func run(keepsRecord: Bool = false) async throws(Failure) -> UploadedObject {
    try tap.begin()
    defer { tap.finish() }
    let source = uploader.job.source
    try options.check(source)
    let object = try await uploader.run.perform(deadline: options.deadline, aborts: source.isStream) {
      [uploader] () throws(Failure) in try await uploader.run()
    }
    if !keepsRecord { forget() }
    return object
  }

  /// Kills a command whose output is uploaded, at once.
  public func kill() { uploader.job.source.kill() }

  /// Stops the upload; can be called from anywhere. Its parts are kept for a later run or aborted, as the options say.
  public func cancel() { uploader.interrupt() }

  /// Deletes the record of an upload that was run with `keepsRecord`, and releases its lock; call it once the result has
  /// been passed on. If the process is killed before that, the next run sees from the record that the object is
  /// complete, and sends nothing. Releasing the task does the same.
  public func forget() { uploader.close() }
}
