import MultipartCore

/// Where `--manifest` writes: a file, or an object. Each share of several machines has its own.
struct ManifestTarget: Sendable {
  private enum Place: Sendable {
    case file(ReportFile)
    case object(S3URL)
  }

  private let place: Place
  let manifest: Manifest

  /// `folder` is for temporary files.
  init?(_ selection: SelectionOptions, folder: String) throws(Failure) {
    guard let given = selection.manifest else { return nil }
    let form = ManifestForm(target: given.text)
    manifest = Manifest(form, folder: folder)
    var name = given.text
    if let shard = selection.shard { name = ManifestForm.target(name, share: shard.index + 1, of: shard.count) }
    if S3URL.looksLike(given) {
      let url = try S3URL.object(Argument(name))
      guard url.key?.utf8.last != UInt8(ascii: "/") else {
        throw Failure(.usage, "--manifest: '\(name)' names no key", remedy: S3URL.form)
      }
      place = .object(url)
    } else {
      let suffix = name.utf8.dropFirst(given.text.utf8.count)
      place = .file(
        try ReportFile(
          FilePath(bytes: given.bytes + suffix), of: .manifest, onlyLooks: selection.isDryRun, isLine: form.isLine))
    }
  }

  var file: ReportFile? { if case .file(let file) = place { file } else { nil } }

  var object: (bucket: String, key: String)? {
    if case .object(let url) = place { (url.bucket, url.key ?? "") } else { nil }
  }

  /// Before anything is sent: whether the bucket of the object is there. A request that reads a byte leaves nothing behind,
  /// and unlike the answer to a HEAD, its answer says what is missing. The bucket of the files proves itself.
  func check(_ session: Session, besides bucket: String) async throws(Failure) {
    guard case .object(let url) = place, !url.bucket.utf8.elementsEqual(bucket.utf8) else { return }
    let store = try await session.store(url.bucket)
    do throws(Failure) {
      let ask = GetObject(store.address(url.key ?? ""), range: 0...0, maximumAnswer: 1 << 20)
      _ = try await store.client.perform(ask, retrying: store.retry)
    } catch {
      // Whoever may write need not be allowed to read.
      guard error.s3Code == "NoSuchBucket" || error.code == .network else { return }
      var failure = error
      failure.message = "--manifest: " + failure.message
      throw failure
    }
  }

  /// The last step of a run: its presence says that all is there.
  func write(_ session: Session) async throws(Failure) {
    switch place {
    case .file(let file): try file.write { (put) throws(Failure) in try manifest.write(put) }
    case .object(let url):
      let file = try manifest.temporaryFile()
      defer { file.remove() }
      let store = try await session.store(url.bucket)
      try await store.upload(UploadInput(.file(file)), to: url.key ?? "")
    }
  }
}
