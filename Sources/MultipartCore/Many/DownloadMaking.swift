import MultipartBasics

/// Makes the downloads of a batch.
final class DownloadMaking: ObjectMaking {
  static let writesObjects = false

  private let store: Store
  private let options: BatchDownloadOptions
  private let tree: TargetTree
  private let record: RunRecord?
  private let line: LineClass?

  /// The options have been checked.
  init(_ store: Store, _ options: BatchDownloadOptions, _ tree: TargetTree, _ record: RunRecord?) {
    (self.store, self.options, self.tree, self.record) = (store, options, tree, record)
    line = store.lessons()?.line
  }

  var world: World { store.world }

  /// Whether an existing file must be examined.
  private var decides: Bool {
    let download = options.download
    return download.overwrites || download.skipsSame || download.ifNewer || record?.isResumed == true
  }

  func answer(to found: WantedObject) -> ObjectEnd? {
    let file = tree.display(found.path)
    if let refusal = options.outputs.refusal(of: file) { return .failed(failed(found, refusal), refusal) }
    guard options.onlyLooks else { return nil }
    do throws(Failure) {
      if let target = try tree.target(at: found.path), target.found != nil {
        guard decides else { throw Downloader.isThere(options.download) }
        return nil
      }
      // No list has shown that the object exists.
      guard found.size != nil else { return nil }
      return .planned(source: file.text, bucket: store.bucket, key: found.key, size: found.size)
    } catch {
      return .failed(failed(found, error), error)
    }
  }

  func object(
    of found: WantedObject, in driver: RunDriver<Downloader>, tell: @escaping @Sendable (BatchEvent) -> Void
  ) async throws(Failure) -> Downloader {
    try tree.begin(found.path)
    do throws(Failure) {
      let target = try tree.target(at: found.path)
      guard target != nil || options.onlyLooks else { throw Failure(.local, "a target without a folder") }
      guard target?.found == nil || decides else { throw Downloader.isThere(options.download) }
      var download = options.download
      if let version = found.noted?.versionID { download.versionID = version }
      // Nothing is opened by a run that only looks.
      let kind = target.map { Downloader.Kind.file($0) } ?? .stream(.path(tree.display(found.path)))
      var wanted = try WantedFile(
        found, target, download, kind.rangeSize(download), record, bucket: store.bucket)
      (wanted.line, wanted.onlyLooks) = (line, options.onlyLooks)
      let (name, bucket, key) = (tree.display(found.path).text, store.bucket, found.key)
      return Downloader(store, key: key, kind, name: name, download, driver, wanted: wanted) { event in
        tell(.download(event, file: name, bucket: bucket, key: key))
      }
    } catch {
      tree.end(found.path)
      throw error
    }
  }

  func mayWait(_ downloader: Downloader) -> Bool { false }

  func size(of downloader: Downloader) -> Int64 { downloader.wanted?.object.size ?? 0 }

  func progress(of downloader: Downloader) -> (file: String, state: UploadState) {
    (downloader.name, UploadState(downloader.progress, activity: downloader.client.activity(of: downloader.progress)))
  }

  func failed(_ found: WantedObject?, _ failure: Failure) -> BatchResult {
    let key = found?.key ?? failure.place.key ?? ""
    let file = found.map { tree.display($0.path).text } ?? failure.place.file ?? ""
    return BatchResult(
      source: file, bucket: store.bucket, key: key,
      result: .failure(failure.at(Place(file: file.isEmpty ? nil : file, bucket: store.bucket, key: key))),
      name: found?.name ?? Array(key.utf8))
  }

  func end(of downloader: Downloader, _ result: Result<DownloadedObject, Failure>) -> ObjectEnd {
    let (name, bucket, key) = (downloader.name, downloader.address.bucket, downloader.address.key)
    switch result {
    case .failure(let failure):
      let told = failed(downloader.wanted?.object, failure)
      return .failed(told, failure)
    case .success(let object) where object.outcome == .planned:
      return .planned(source: name, bucket: bucket, key: key, size: object.size)
    case .success(let object):
      if object.outcome == .completed, let file = downloader.file { tree.published(file) }
      let took = world.uptime() - downloader.began
      return .done(.downloaded(object, file: name, bucket: bucket, key: key, took: took)) { summary in
        switch object.outcome {
        case .completed: summary.downloaded += 1
        case .unchanged: summary.unchanged += 1
        case .skipped: summary.existing += 1
        case .planned: break
        }
        if object.outcome != .skipped { summary.bytes = summary.bytes.plus(object.size) }
        summary.bytesReceived += object.bytesReceived
        summary.bytesResumed += object.bytesResumed
        summary.retries += object.retries
      } note: { [record] () throws(Failure) in
        // Nothing is known about a file that was left because it is newer.
        guard object.outcome != .skipped, let file = downloader.file, let wanted = downloader.wanted?.object,
          let identity = wanted.identity(object.identity)
        else { return }
        try record?.append(wanted.recorded(file, in: bucket), identity: identity)
      }
    }
  }

  func doubtBucket(_ isMissing: @escaping @Sendable (Failure) -> Void) { store.doubtBucket(isMissing) }

  func close(_ downloader: Downloader) {
    if let path = downloader.wanted?.object.path { tree.end(path) }
  }

  func close(keepsRecord: Bool) { record?.end(keeps: keepsRecord, world) }
}
