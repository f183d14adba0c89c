import MultipartBasics

/// An object behind a presigned URL. The URL grants access without credentials, so it is a secret while it is valid.
///
///     let object = try PresignedObject(url)
///     print(try await object.download(to: .file("disk.img")).evidence)
public final class PresignedObject: Sendable {
  private let store: Store
  private let part: PresignedPart
  /// The URL without its secrets: `https://host/path`.
  public let address: String

  /// Opens the object of a URL that was signed for GET. If it was signed with its checksums
  /// (``PresignOptions/givesChecksums``), these prove the bytes; otherwise the ETag does where possible.
  public init(_ url: String, _ options: StoreOptions = StoreOptions()) throws(Failure) {
    let signer = try PresignedSigner(.get, url)
    part = PresignedPart(url)
    address = signer.origin
    store = try Store(signer, options)
  }

  /// The last component of the URL's path; nil if it has none.
  public var name: String? {
    let name = PercentEncoding.decodedPath(part.path.words(between: "/").last.map { String($0) } ?? "")
    return name.isEmpty ? nil : name
  }

  /// Downloads the object like ``Store/download(_:to:_:onEvent:)``, but with GET requests only, because the URL is
  /// signed for no other method: the size, the ETag and the checksums come from the headers of the first response.
  @discardableResult
  public func download(
    to output: DownloadOutput, _ options: DownloadOptions = DownloadOptions(),
    onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
  ) async throws(Failure) -> DownloadedObject {
    try await downloadTask(to: output, options, onEvent: onEvent).run()
  }

  /// A download of the object that can be watched and stopped.
  public func downloadTask(
    to output: DownloadOutput, _ options: DownloadOptions = DownloadOptions(),
    onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
  ) throws(Failure) -> DownloadTask {
    guard options.versionID == nil, options.part == nil else {
      throw Failure(.usage, "a presigned URL already names the version, and is not signed for a part of the object")
    }
    var options = options
    options.versionID = part.versionID
    return try store.downloadTask(part.path, to: output, options, onEvent: onEvent)
  }
}

extension Store {
  /// A store that contains only the URL's object.
  fileprivate convenience init(_ signer: PresignedSigner, _ given: StoreOptions) throws(Failure) {
    let world = given.openWorld()
    var options = try given.filled(from: world.environment)
    options.endpoint = String(AddressBook.origin(of: signer.origin))
    (options.credentials, options.region, options.addressing) = (.unsigned, EndpointResolver.defaultRegion, .path)
    (options.accelerate, options.dualstack, options.fips, options.profile) = (nil, nil, nil, nil)
    (options.requestPayer, options.expectedBucketOwner) = (false, nil)
    let bucket = "presigned"
    // Nothing here depends on variables or shared files, so none are read.
    let settings = try StoreSettings(options, [:], try ProfileSettings(options, [:]), bucket: bucket)
    self.init(
      try EndpointResolver.resolve(settings.question), settings, options, credentials: nil,
      transport: try options.transport(settings.transfer, world), world: world, signer)
  }
}
