/// An object behind a presigned URL. Whoever has the URL needs no credentials; it is a secret while it is valid.
///
///     let object = try PresignedObject(url)
///     print(try await object.download(to: .file("disk.img")).evidence)
public final class PresignedObject: Sendable {
  private let store: Store
  private let part: PresignedPart
  /// Without what is secret in it: `https://host/path`.
  public let address: String

  /// The URL must be signed for GET. If it was signed with its checksums (``PresignOptions/givesChecksums``), they
  /// prove the bytes; otherwise its ETag does, if that can be.
  public init(_ url: String, _ options: StoreOptions = StoreOptions()) throws(Failure) {
    let signer = try PresignedSigner(get: url)
    part = PresignedPart(url)
    address = signer.origin
    store = try Store(signer, options)
  }

  /// The last name of the URL's path; nil if it has none.
  public var name: String? {
    let name = PercentEncoding.decoded(part.path.words(between: "/").last.map { String($0) } ?? "")
    return name.isEmpty ? nil : name
  }

  /// As ``Store/download(_:to:_:onEvent:)`` does, in ranges of the same requests. A URL is signed for no other request than
  /// GET: the size, the ETag and the checksums come from the head of the first answer.
  @discardableResult
  public func download(
    to output: DownloadOutput, _ options: DownloadOptions = DownloadOptions(),
    onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
  ) async throws(Failure) -> DownloadedObject {
    try await downloadTask(to: output, options, onEvent: onEvent).run()
  }

  /// The same, to be watched and stopped.
  public func downloadTask(
    to output: DownloadOutput, _ options: DownloadOptions = DownloadOptions(),
    onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
  ) throws(Failure) -> DownloadTask {
    guard options.versionID == nil, options.part == nil else {
      throw Failure(.usage, "a presigned URL names the version itself, and was signed for no part of the object")
    }
    return try store.downloadTask(part.path, to: output, options, onEvent: onEvent)
  }
}

extension Store {
  /// A store in which there is nothing but the URL's object.
  fileprivate convenience init(_ signer: PresignedSigner, _ given: StoreOptions) throws(Failure) {
    let world = given.world()
    var options = try given.filled(from: world.environment)
    options.endpoint = String(AddressBook.origin(of: signer.origin))
    (options.credentials, options.region, options.addressing) = (.unsigned, EndpointResolver.defaultRegion, .path)
    (options.accelerate, options.dualstack, options.fips, options.profile) = (nil, nil, nil, nil)
    (options.requestPayer, options.expectedBucketOwner) = (false, nil)
    let bucket = "presigned"
    // Nothing in it depends on variables and shared files, so none is read.
    let settings = try StoreSettings(options, [:], try ProfileSettings(options, [:]), bucket: bucket)
    self.init(
      try EndpointResolver.resolve(settings.question), settings, options, credentials: nil,
      transport: try options.transport(settings.transfer, world), world: world, signer)
  }
}
