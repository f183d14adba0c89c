import MultipartCore

/// `s3up part FILE s3://BUCKET/KEY --upload-id ID --part N`, or with a presigned URL and no credentials.
struct PartCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let steps = try StepOptions(session.invocation)
    if let url = steps.url {
      let file = try session.invocation.arguments("FILE")[0]
      try await sendPresigned(url, file, steps)
    } else {
      let words = try session.invocation.arguments("FILE", "s3://BUCKET/KEY")
      let target = try await StepTarget(session, words[1])
      let slice = try slice(words[0], steps)
      var job = try job(slice, bucket: target.url.bucket, key: target.key)
      job.customerKey = target.customerKey
      job.common = target.access.common
      job.isDirectoryBucket = target.access.bucket.kind == .directory
      if job.isDirectoryBucket { try DirectoryBucket.check(session.invocation) }
      try await send(job, slice, target.access.client, number: steps.part ?? 0, uploadID: target.uploadID)
    }
  }

  /// The URL names bucket, key, upload and part; here they only name the place in messages.
  private func sendPresigned(_ url: String, _ file: Argument, _ steps: StepOptions) async throws(Failure) {
    let slice = try slice(file, steps)
    let presigned = PresignedURL(url)
    let transport = try StoreAccess.transport(session, TransferOptions(session.invocation))
    let client = S3Client(
      signer: PresignedSigner(SignedRequest(method: .put, url: url)), transport: transport, world: session.world,
      stallTimeout: try TransferOptions(session.invocation).stallTimeout)
    let job = try job(slice, bucket: presigned.host, key: presigned.path)
    try await send(job, slice, client, number: presigned.part ?? 1, uploadID: presigned.uploadID ?? "presigned")
  }

  private func job(_ slice: PartSlice, bucket: String, key: String) throws(Failure) -> UploadJob {
    var job = UploadJob(file: slice.file, bucket: bucket, key: key)
    job.retry = RetryPolicy(tries: try TransferOptions(session.invocation).retries)
    job.checksum = try IntegrityOptions(session.invocation).checksum.form
    return job
  }

  private func slice(_ name: Argument, _ steps: StepOptions) throws(Failure) -> PartSlice {
    let file = try open(FilePath(bytes: name.bytes))
    let length = steps.length ?? max(0, file.size - steps.offset)
    guard steps.offset >= 0, length >= 0, steps.offset <= file.size, length <= file.size - steps.offset else {
      throw Failure(
        .usage, "the slice from \(steps.offset) of \(length) bytes is not within the file's \(file.size)",
        remedy: "check --offset and --length"
      ).at(Place(file: name.text))
    }
    guard length <= UploadPlan.largestPart else {
      throw Failure(.usage, "a part of \(length) bytes: S3 takes at most 5 GiB", remedy: "give --length").at(
        Place(file: name.text))
    }
    return PartSlice(file: file, offset: steps.offset, length: length)
  }

  private func open(_ path: FilePath) throws(Failure) -> SourceFile {
    guard StreamFile.namesDescriptor(path) else { return try SourceFile(path) }
    if let file = try StreamFile.openFile(path) { return file }
    throw Failure(.usage, "the source is not a regular file", remedy: "name a file, or give it by <FILE").at(
      Place(file: StreamFile.title(of: path).text))
  }

  private func send(
    _ job: UploadJob, _ slice: PartSlice, _ client: S3Client, number: Int, uploadID: String
  ) async throws(Failure) {
    let step = try PartStep(job: job, slice: slice, client: client, world: session.world)
    let receipt = try await step.run(number, uploadID: uploadID)
    do throws(Failure) {
      try session.answer(
        SafeText.oneLine(receipt.etag, limit: .max),
        json: JSONValue.object([
          ("part", .int(Int64(receipt.number))), ("size", .int(receipt.size)), ("etag", .string(receipt.etag)),
        ]).text)
    } catch {
      throw Failure(
        .output, "\(error.message), but the part is at the store with the ETag \(receipt.etag)",
        remedy: "It need not be sent again: s3up parts shows it.")
    }
  }
}

/// What a presigned part URL says of itself, for messages.
struct PresignedURL {
  let host: String
  let path: String
  var part: Int?
  var uploadID: String?

  init(_ url: String) {
    let bytes = Array(url.utf8)
    let query = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
    let rest = bytes[..<query].split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    // Without the user and password that may stand before the host.
    let authority = rest.count > 2 ? rest[2].split(separator: UInt8(ascii: "@")).last ?? [] : []
    host = authority.isEmpty ? "url" : String(decoding: authority, as: UTF8.self)
    path = rest.count > 3 && !rest[3].isEmpty ? String(decoding: rest[3], as: UTF8.self) : "part"
    for pair in bytes[query...].dropFirst().split(separator: UInt8(ascii: "&")) {
      let words = pair.split(separator: UInt8(ascii: "="), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 2 else { continue }
      if words[0] == "partNumber" { part = Int(words[1]).flatMap { (1...10_000).contains($0) ? $0 : nil } }
      if words[0] == "uploadId" { uploadID = words[1] }
    }
  }
}
