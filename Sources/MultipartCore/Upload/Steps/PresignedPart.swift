import MultipartBasics

extension MultipartUpload {
  /// Refuses what cannot be the presigned URL of a part, without a request. No message shows it.
  public static func check(url: String) throws(Failure) { _ = try part(of: url) }

  /// A PUT to any other URL would replace the whole object with the slice.
  private static func part(
    of url: String
  ) throws(Failure) -> (signer: PresignedSigner, named: PresignedPart, number: Int, uploadID: String) {
    let signer = try PresignedSigner(.put, url)
    let named = PresignedPart(url)
    guard let number = named.part, let uploadID = named.uploadID else {
      throw Failure(
        .usage, "the URL is not that of a part: it has no partNumber or no uploadId",
        remedy: "the URL of a part is presigned with the id of its upload and the number of the part")
    }
    return (signer, named, number, uploadID)
  }

  /// Sends a slice of a file to a presigned URL of a part, without looking for credentials. The URL determines the
  /// part's number and size.
  public static func part(
    url: String, _ input: UploadInput, offset: Int64 = 0, length: Int64? = nil, checksum: ChecksumForm? = nil,
    _ options: StoreOptions = StoreOptions()
  ) async throws(Failure) -> UploadedPart {
    let (signer, named, number, uploadID) = try part(of: url)
    let world = options.openWorld()
    let transfer = TransferSettings(try options.filled(from: world.environment))
    let slice = try input.slice(offset: offset, length: length)
    var job = UploadJob(file: slice.file, to: ObjectAddress(named.host, named.path.isEmpty ? "part" : named.path))
    job.retry = RetryPolicy(tries: transfer.tries)
    job.checksum = checksum
    let client = S3Client(
      signer: signer, transport: try options.transport(transfer, world), world: world,
      stallTimeout: transfer.stallTimeout)
    let step = try PartStep(job: job, slice: slice, client: client, world: world)
    return UploadedPart(try await step.run(number, uploadID: uploadID))
  }
}

/// What a presigned URL says about itself.
struct PresignedPart {
  let host: String
  /// The path without its leading slash.
  let path: String
  var part: Int?
  var uploadID: String?
  var versionID: String?

  init(_ url: String) {
    let query = URLQuery(of: Array(url.utf8))
    let rest = query.place.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    // The authority without the user and password that may precede the host.
    let authority = rest.count > 2 ? rest[2].split(separator: UInt8(ascii: "@")).last ?? [] : []
    host = authority.isEmpty ? "url" : String(decoding: authority, as: UTF8.self)
    path = rest.count > 3 ? String(decoding: rest[3], as: UTF8.self) : ""
    for item in query.items {
      if item.isNamed("partNumber") { part = item.decodedValue.flatMap { Int($0, in: S3Limits.partNumbers) } }
      if item.isNamed("uploadId") { uploadID = item.decodedValue }
      if item.isNamed("versionId"), let id = item.decodedValue, !id.isEmpty { versionID = id }
    }
  }
}
