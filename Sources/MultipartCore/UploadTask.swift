/// An upload that can be watched and stopped.
///
///     let upload = try store.uploadTask(.file("disk.img"), to: "disk.img")
///     let bar = Task { while true { draw(upload.progress); try await Task.sleep(for: .seconds(1)) } }
///     defer { bar.cancel() }
///     print(try await upload.run().evidence)
public final class UploadTask: Sendable {
  package let uploader: Uploader
  private let options: UploadOptions
  /// Its connections live as long as this upload may need them.
  private let store: Store

  init(_ uploader: Uploader, _ options: UploadOptions, store: Store) {
    self.uploader = uploader
    self.options = options
    self.store = store
  }

  deinit { forget() }

  /// The name of the source, without its folders.
  public var name: String { uploader.job.source.path.name }

  /// How far the upload is; can be read at any time.
  public var progress: UploadState { UploadState(uploader) }

  /// Uploads; to be called once. Cancelling the calling task stops the upload.
  public func run() async throws(Failure) -> UploadedObject {
    let start = store.world.uptime()
    try options.check(uploader.job.source)
    let alarm = options.deadline.map { uploader.interrupt(after: $0, since: start) }
    defer { alarm?.cancel() }
    // In a task of its own: one that is cancelled could do nothing more, and what is at the store is to be ended or kept.
    let work = Task.begin { [uploader] () async -> Result<UploadResult, Failure> in
      do throws(Failure) {
        return .success(try await uploader.run())
      } catch {
        return .failure(error)
      }
    }
    let result = await withTaskCancellationHandler {
      await work.value
    } onCancel: { [uploader] in
      uploader.interrupt()
    }
    return UploadedObject(try result.get())
  }

  /// Stops the upload; can be called from anywhere. Its parts are kept for a later run or aborted, as the options say.
  public func cancel() { uploader.interrupt() }

  /// The record of a finished upload stays until its word has been passed on: killed before, the next run finds by it
  /// that the object is complete, and sends nothing. A program that tells nobody lets go of the task.
  package func forget() { uploader.close() }
}
