import MultipartBasics

/// Opens the candidates of a batch and makes their uploaders.
protocol UploaderMaking: Sendable {
  var world: World { get }
  /// The bucket of a candidate that names none.
  var bucket: String { get }

  func uploader(
    _ candidate: Candidate, _ driver: RunDriver<Uploader>, tell: @escaping @Sendable (BatchEvent) -> Void
  ) async throws(Failure) -> Uploader
}

/// The maker for one store: what the uploads have in common is determined once.
final class UploaderMaker: UploaderMaking {
  private let store: Store
  private let options: UploadOptions
  private let lessons: StoreLessons?
  private let state: StoreState?
  /// Whether earlier runs have left records, so that an object in a single request may have one too.
  private let hasRecords: Bool
  private let record: RunRecord?
  private let wantsSHA256: Bool
  /// Whether the manifest lists versions and checksums.
  private let listsChecksums: Bool
  private let onlyLooks: Bool
  private let stores: Siblings

  var world: World { store.world }
  var bucket: String { store.bucket }

  init(_ store: Store, _ batch: BatchOptions) {
    self.store = store
    stores = Siblings(of: store)
    var options = batch.upload
    (record, wantsSHA256, onlyLooks) = (batch.record, batch.manifest?.wantsSHA256 == true, batch.onlyLooks)
    listsChecksums = batch.manifest?.wantsSHA256 == false
    lessons = store.lessons()
    state = store.state
    hasRecords = state?.book.hasRecords ?? false
    if lessons?.contain(.equalParts) == true { options.equalParts = true }
    self.options = options
  }

  func uploader(
    _ candidate: Candidate, _ driver: RunDriver<Uploader>, tell: @escaping @Sendable (BatchEvent) -> Void
  ) async throws(Failure) -> Uploader {
    let item = candidate.item
    let options = options.of(item)
    let store = try await stores.store(of: item)
    try store.check(options)
    let source = try item.input.open(options, concurrency: store.settings.transfer.concurrency, world: store.world)
    try options.check(source)
    var job = try UploadJob(source, to: item.key, of: store, options, lessons: lessons)
    job.readsWhole = true
    job.listName = item.name
    if options.skipsSame || options.skipsExisting || record?.isResumed == true {
      job.sameness = SamenessQuestion(
        found: candidate.found, compares: options.skipsSame, record: record, wantsChecksum: listsChecksums)
    }
    job.wantsSHA256 = wantsSHA256
    job.onlyLooks = onlyLooks
    let (name, bucket, key) = (source.path.text, store.bucket, item.key)
    return try Uploader(
      job: job, client: store.client, world: store.world, memory: state?.memory, book: state?.book, run: driver,
      mayHaveRecord: hasRecords
    ) { event in
      tell(.upload(event, source: name, bucket: bucket, key: key))
    }
  }
}

extension UploaderMaking {
  func result(_ uploader: Uploader, _ result: Result<UploadedObject, Failure>) -> BatchResult {
    let job = uploader.job
    return BatchResult(
      source: job.source.path.text, bucket: job.bucket, key: job.key, result: result,
      took: world.uptime() - uploader.began, name: uploader.job.listName ?? job.source.path.bytes)
  }

  /// The result for a candidate that could not be opened, or for a source that could not be examined.
  func result(_ item: UploadItem?, _ failure: Failure) -> BatchResult {
    let place = failure.place
    let path = item?.input.path ?? FilePath(place.file ?? "")
    return BatchResult(
      source: path.text, bucket: item?.bucket ?? bucket, key: item?.key ?? place.key ?? "",
      result: .failure(failure), name: item?.name ?? path.bytes)
  }
}
