import MultipartCore

/// Where `--manifest` writes: a file, or an object. Each share of several machines has its own.
struct ManifestTarget: Sendable {
  private enum Place: Sendable {
    case file(FilePath)
    case object(S3URL)
  }

  private let place: Place
  let manifest: Manifest

  init?(_ selection: SelectionOptions, environment: [String: String]) throws(Failure) {
    guard let given = selection.manifest else { return nil }
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
      place = .file(FilePath(bytes: given.bytes + suffix))
    }
    let folder = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    manifest = Manifest(ManifestForm(target: given.text), folder: folder)
  }

  /// The last step of a run: its presence says that all is there.
  func write(_ session: Session) async throws(Failure) {
    switch place {
    case .file(let path): try manifest.write(to: path)
    case .object(let url):
      let file = try manifest.temporaryFile()
      defer { file.remove() }
      let store = try await session.store(url.bucket)
      try await store.upload(UploadInput(.file(file)), to: url.key ?? "")
    }
  }
}
