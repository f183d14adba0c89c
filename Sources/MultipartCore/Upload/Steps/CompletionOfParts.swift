import MultipartBasics

/// Completes an upload, regardless of who sent its parts.
struct CompletionOfParts {
  private let upload: MultipartUpload
  private let list: [UploadedPart]?
  private let allowsGaps: Bool
  private let options: UploadOptions
  private let asked: RequestedSettings

  init(
    _ upload: MultipartUpload, _ list: [UploadedPart]?, allowsGaps: Bool, _ options: UploadOptions
  ) throws(Failure) {
    self.upload = upload
    self.list = list?.sorted { $0.number < $1.number }
    self.allowsGaps = allowsGaps
    self.options = options
    asked = try RequestedSettings(
      object: options.object, encryption: options.encryption, customerKey: upload.address.customerKey)
  }

  func run() async throws(Failure) -> UploadedObject {
    guard let record = upload.recorded else { return try await result() }
    let object = try await record.ending(upload.store.world) { () throws(Failure) in try await result() }
    guard let object else { throw record.inUse.at(upload.place) }
    return object
  }

  private func result() async throws(Failure) -> UploadedObject {
    let failure: Failure
    do throws(Failure) {
      if let list, !allowsGaps { try UploadedPart.requireWhole(list) }
      if let object = try await completed() { return object }
      failure = Failure(.dataMismatch, "the upload has no parts", remedy: "Send parts first: \(run: .sendPart)")
    } catch {
      guard error.code == .uploadGone else { throw error.at(upload.place) }
      failure = error
    }
    if let list, let object = try await completedBefore(list) { return object }
    throw failure.at(upload.place)
  }

  /// The result if the upload was already completed; nil if the store lists no parts, because some stores return an
  /// empty list for an upload that is gone.
  private func completed() async throws(Failure) -> UploadedObject? {
    let listing = try await upload.listing()
    let listed = listing.parts.map { UploadedPart($0) }
    guard !listed.isEmpty else { return nil }
    let chosen = try chosen(of: listed)
    if !allowsGaps { try UploadedPart.requireWhole(chosen, "the store does not have") }
    try await options.conditions.requireMet(HeadObject(upload.address), upload.store.client, upload.store.retry)
    // The upload was begun before its first part was stored.
    return try await upload.steps.complete(
      receipts(chosen, listing), since: chosen.compactMap(\.lastModified).min().map { .uploadUntil($0) },
      conditions: options.conditions, asked: asked)
  }

  /// The parts that the list names, or all parts.
  private func chosen(of listed: [UploadedPart]) throws(Failure) -> [UploadedPart] {
    guard let list else { return listed }
    let known = Dictionary(listed.map { ($0.number, $0) }) { _, last in last }
    let missing = list.map(\.number).filter { known[$0] == nil }
    guard missing.isEmpty else {
      throw Failure(
        .dataMismatch, "the store does not have \(PartNumbers.text(missing)), which the list names",
        remedy: "Send what is missing, or correct the list; \(run: .listParts) shows what the store has.")
    }
    var chosen: [UploadedPart] = []
    for line in list {
      guard let part = known[line.number] else { continue }
      guard ETag(part.etag) == ETag(line.etag), line.size.map({ $0 == part.size }) ?? true else {
        throw Failure(
          .dataMismatch,
          "the store's part \(line.number) has \(part.size ?? 0) bytes and the ETag \(part.etag), the list says "
            + (line.size.map { "\($0) bytes and " } ?? "") + line.etag,
          remedy: "Send the part again, or correct the list.")
      }
      if let (algorithm, sum) = line.checksums.first(where: { part.refutes($0, $1) }) {
        throw Failure(
          .dataMismatch,
          "the store's part \(line.number) has the \(algorithm.rawValue) \(part.checksums[algorithm] ?? ""), the list says \(sum)",
          remedy: "Send the part again, or correct the list.")
      }
      // SeaweedFS lists no checksums, and wants to have them with the completion.
      var known = part
      if known.checksums.isEmpty { known.checksums = line.checksums }
      chosen.append(known)
    }
    return chosen
  }

  /// The receipts of the parts. Checksums are sent only if all parts have one of the upload's algorithm: S3 refuses a
  /// list in which some lack it. If the store lists neither checksums nor the algorithm, it is the caller's.
  private func receipts(_ parts: [UploadedPart], _ listing: S3Client.PartListing) -> [PartReceipt] {
    let named = listing.checksumAlgorithm.map { name in
      ChecksumAlgorithm(awsName: name)
        .flatMap { $0.typeInParts == listing.checksumType.flatMap(ChecksumType.init(awsName:)) ? $0 : nil }
    }
    let isBare = listing.parts.allSatisfy(\.checksums.isEmpty)
    let algorithm =
      named
      ?? ChecksumAlgorithm.allCases.first { algorithm in
        isBare && algorithm.typeInParts != nil && parts.allSatisfy { $0.checksums[algorithm] != nil }
      }
    let sums = parts.map { part in algorithm.flatMap { part.sum($0) } }
    let complete = sums.allSatisfy { $0 != nil }
    return zip(parts, sums).map { part, sum in
      PartReceipt(
        number: part.number, size: part.size ?? 0, etag: part.etag, checksum: complete ? sum : nil,
        proof: complete ? .checksum : .none)
    }
  }

  /// The result if the upload was completed before; nil if nothing proves that the object is made of these parts.
  /// Conditions are about the previous object, of which nothing is known any more.
  private func completedBefore(_ list: [UploadedPart]) async throws(Failure) -> UploadedObject? {
    guard options.conditions == WriteConditions() else { return nil }
    do throws(Failure) {
      guard let result = try await upload.steps.completedBefore(from: list) else { return nil }
      return try await upload.steps.confirm(result, asked)
    } catch {
      throw error.at(upload.place)
    }
  }
}
