import MultipartCore

/// What the single steps on one upload share: `--upload-id` and the object it is for.
struct StepTarget {
  let url: S3URL
  let uploadID: String
  let access: StoreAccess
  let customerKey: CustomerKey?

  var key: String { url.key ?? "" }
  var place: Place { Place(bucket: url.bucket, key: url.key, uploadID: uploadID) }
  var subject: Event.Subject { Event.Subject(source: nil, bucket: url.bucket, key: url.key) }

  init(_ session: Session, _ word: Argument) async throws(Failure) {
    let invocation = session.invocation
    url = try S3URL.object(word)
    guard let id = try StepOptions(invocation).uploadID else {
      throw Failure(.usage, "--upload-id is missing", remedy: "Give --upload-id ID, the id that create printed.")
    }
    uploadID = id
    access = try await StoreAccess.open(session, bucket: url.bucket)
    customerKey = try EncryptionOptions(invocation)
      .customerKey(for: access.bucket.origin, insecure: ConnectionOptions(invocation).insecure)
  }

  /// Every part the store has, in the order of their numbers.
  func parts() async throws(Failure) -> StepParts {
    let list = ListParts(
      bucket: url.bucket, key: key, uploadID: uploadID, customerKey: customerKey, common: access.common)
    let listing = try await access.client.allParts(list, retrying: access.retry)
    guard listing.isComplete else {
      throw Failure(.server, "the store's list of parts does not come to an end").at(place)
    }
    return StepParts(
      parts: listing.parts, algorithm: listing.checksumAlgorithm.flatMap(ChecksumAlgorithm.init(awsName:)),
      isFullObject: listing.checksumType?.uppercased() == "FULL_OBJECT")
  }
}

/// The parts of an upload as the store lists them.
struct StepParts {
  let parts: [ListParts.Part]
  /// What the upload was created with.
  let algorithm: ChecksumAlgorithm?
  let isFullObject: Bool

  /// The sums go along only where all parts have one of the upload's own kind: a list that names a few would be refused.
  func receipts(_ chosen: [ListParts.Part]) -> [PartReceipt] {
    let sums = chosen.map(sum)
    let complete = sums.allSatisfy { $0 != nil }
    return zip(chosen, sums).map { part, sum in
      PartReceipt(
        number: part.number, size: part.size, etag: part.etag, checksum: complete ? sum : nil,
        proof: complete ? .checksum : .none)
    }
  }

  private func sum(_ part: ListParts.Part) -> Checksum? {
    guard let algorithm, isFullObject == (algorithm == .crc64nvme) else { return nil }
    return part.checksums[algorithm.headerName].flatMap { Checksum(algorithm, base64: $0) }
  }
}
