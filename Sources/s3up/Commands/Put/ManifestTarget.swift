import MultipartCore

/// Where `--manifest` writes: a file or an object. Each share has its own manifest.
struct ManifestTarget: Sendable {
  private enum Place: Sendable {
    case file(ReportFile)
    case object(S3URL)
  }

  private let place: Place
  let manifest: Manifest

  /// Reads `--manifest`; temporary files go into `folder`.
  init?(_ selection: SelectionOptions, folder: String) throws(Failure) {
    guard let given = selection.manifest else { return nil }
    let form = ManifestForm(target: given.text)
    manifest = Manifest(form, folder: folder)
    var name = given.text
    if let shard = selection.shard { name = ManifestForm.target(name, share: shard.index + 1, of: shard.count) }
    if S3URL.looksLike(given) {
      place = .object(try S3URL.object(Argument(name)).unnamed("a manifest"))
    } else {
      let suffix = name.utf8.dropFirst(given.text.utf8.count)
      place = .file(
        try ReportFile(
          FilePath(bytes: given.bytes + suffix), of: .manifest, onlyLooks: selection.isDryRun, isLine: form.isLine))
    }
  }

  var file: ReportFile? { if case .file(let file) = place { file } else { nil } }

  var object: MultipartCore.Place? {
    if case .object(let url) = place { MultipartCore.Place(bucket: url.bucket, key: url.key ?? "") } else { nil }
  }

  /// Checks before anything is sent that the bucket of the manifest exists. The bucket of the uploaded files needs no
  /// check.
  func check(_ session: Session, besides bucket: String) async throws(Failure) {
    guard case .object(let url) = place, !url.bucket.utf8.elementsEqual(bucket.utf8) else { return }
    let store = try await session.store(url.bucket)
    do throws(Failure) {
      try await store.requireBucket(for: url.key ?? "")
    } catch {
      var failure = error
      failure.message = "--manifest: " + failure.message
      throw failure
    }
  }

  /// Writes the manifest as the last step of a run: its presence means that everything has arrived.
  func write(_ session: Session, until end: Duration?) async throws(Failure) {
    switch place {
    case .file(let file): try file.write { (put) throws(Failure) in try manifest.write(put) }
    case .object(let url):
      let file = try manifest.temporaryFile()
      defer { file.remove() }
      do throws(Failure) {
        try await upload(file, to: url, session, until: end)
      } catch {
        // The temporary file is nobody's concern.
        var failure = error
        failure.place = MultipartCore.Place(bucket: url.bucket, key: url.key)
        throw failure
      }
    }
  }

  /// The manifest gets the encryption and the access rules of the objects. The first signal or the deadline ends it.
  private func upload(_ file: FilePath, to url: S3URL, _ session: Session, until end: Duration?) async throws(Failure) {
    var options = UploadOptions()
    let run = session.options.upload
    options.encryption = run.encryption
    (options.object.acl, options.object.grants) = (run.object.acl, run.object.grants)
    options.resume = .never
    options.abortsWhenCancelled = true
    options.deadline = end.map { max(.zero, $0 - session.world.uptime()) }
    _ = try await session.signals.run { [options] () async throws(Failure) in
      try await session.store(url.bucket).upload(.file(file), to: url.key ?? "", options)
    }
  }
}
