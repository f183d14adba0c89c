extension Store {
  /// Uploads, and returns once the store has proven that the object holds the bytes that were read. Cancelling the task
  /// stops the upload; the upload of a file is kept, and a later call with the same file and key resumes it.
  @discardableResult
  public func upload(
    _ input: UploadInput, to key: String, _ options: UploadOptions = UploadOptions(),
    onEvent: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) async throws(Failure) -> UploadedObject {
    let task = try uploadTask(input, to: key, options, onEvent: onEvent)
    return try await task.run()
  }

  /// An upload that starts with `run()` and can be watched.
  public func uploadTask(
    _ input: UploadInput, to key: String, _ options: UploadOptions = UploadOptions(),
    onEvent: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) throws(Failure) -> UploadTask {
    // Before a byte of the input is read.
    try check(options)
    let lessons = lessons()
    var options = options
    if lessons?.contain(.equalParts) == true { options.equalParts = true }
    let source = try input.open(options, concurrency: settings.transfer.concurrency, world: world)
    let job = try UploadJob(source, to: key, of: self, options, lessons: lessons)
    let state = state
    let tap = EventTap(onEvent)
    let uploader = try Uploader(
      job: job, client: client, world: world, memory: state?.memory, book: state?.book, tell: tap.tell)
    return UploadTask(uploader, options, tap)
  }
}
