import MultipartBasics

/// Makes the uploads of a batch.
struct UploadMaking: ObjectMaking {
  static let writesObjects = true

  let maker: any UploaderMaking
  let options: BatchOptions

  var world: World { maker.world }

  func answer(to found: Candidate) -> ObjectEnd? {
    let item = found.item
    let bucket = item.bucket ?? maker.bucket
    if let refusal = options.outputs.refusal(of: found.inode, item.input.path, bucket: bucket, key: item.key) {
      return .failed(maker.result(item, refusal), refusal)
    }
    // Opening a pipe would wait for its writer.
    guard options.onlyLooks, item.input.path.isStream else { return nil }
    return .planned(source: item.input.path.text, bucket: bucket, key: item.key, size: found.size)
  }

  func object(
    of found: Candidate, in driver: RunDriver<Uploader>, tell: @escaping @Sendable (BatchEvent) -> Void
  ) async throws(Failure) -> Uploader {
    try await maker.uploader(found, driver, tell: tell)
  }

  func mayWait(_ uploader: Uploader) -> Bool { uploader.mayWait }

  func size(of uploader: Uploader) -> Int64 { uploader.job.source.size ?? 0 }

  func progress(of uploader: Uploader) -> (file: String, state: UploadState) {
    (uploader.job.source.path.text, UploadState(uploader))
  }

  func failed(_ found: Candidate?, _ failure: Failure) -> BatchResult { maker.result(found?.item, failure) }

  func end(of uploader: Uploader, _ result: Result<UploadedObject, Failure>) -> ObjectEnd {
    let job = uploader.job
    if case .success(let planned) = result, planned.outcome == .planned {
      return .planned(source: job.source.path.text, bucket: job.bucket, key: job.key, size: planned.size)
    }
    let told = maker.result(uploader, result)
    switch told.result {
    case .failure(let failure): return .failed(told, failure)
    case .success(let object):
      return .done(.ended(told)) { summary in
        switch object.outcome {
        case .skipped: summary.existing += 1
        case .unchanged: summary.unchanged += 1
        case .completed, .shared, .planned: summary.uploaded += 1
        }
        if object.outcome != .skipped {
          summary.bytes = summary.bytes.plus(object.size)
          summary.bytesResumed += object.bytesResumed
        }
        summary.bytesSent += object.bytesSent
        summary.retries += object.retries
      } note: { () throws(Failure) in
        try note(uploader, told.key, object)
      }
    }
  }

  /// Records the object for the next run, and in the manifest.
  private func note(_ uploader: Uploader, _ key: String, _ object: UploadedObject) throws(Failure) {
    // Nothing is known about an object that was skipped.
    guard object.outcome != .skipped else { return }
    if let etag = object.etag, !uploader.job.source.isStream {
      try options.record?.append(uploader.job.recorded(), identity: etag)
    }
    try options.manifest?.add(
      ManifestEntry(
        key: options.nameInManifest(key), size: object.size, etag: object.etag, versionID: object.versionID,
        checksum: object.checksum, sha256: uploader.sha256))
  }

  /// Answers to PUT and POST say themselves that a bucket does not exist.
  func doubtBucket(_ isMissing: @escaping @Sendable (Failure) -> Void) {}

  func close(_ uploader: Uploader) { uploader.close() }

  func close(keepsRecord: Bool) { options.record?.end(keeps: keepsRecord, world) }
}

extension RunRecord {
  /// Ends the record of a run; a failure to write it is a warning.
  func end(keeps: Bool, _ world: World) {
    do throws(Failure) {
      try close(keeps: keeps)
    } catch {
      world.log(0, "the record of this run \(error.message)")
    }
  }
}
