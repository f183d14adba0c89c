import MultipartBasics

/// How an object was divided into parts, as far as the HEAD of its first part shows it.
struct PartsOfObject: Sendable, Equatable {
  /// The number of parts; nil if the store does not say.
  var count: Int?
  /// The size of the first part: as a rule all parts but the last have this size.
  var size: Int64

  /// The division, if all parts but the last have the same size.
  func cut(of object: ObjectInfo) -> PartCut? {
    guard let count = object.partCount ?? count, count > 1, let length = object.size else { return nil }
    let cut = PartCut(length, partSize: size)
    return cut.count == count ? cut : nil
  }
}

extension S3Client {
  /// The parts; `operation` is the HEAD that has found the object. Nil if it was sent in one request, or if the store
  /// does not say.
  func parts(
    of object: ObjectInfo, _ operation: HeadObject, retrying policy: RetryPolicy = RetryPolicy(tries: 1)
  ) async throws(Failure) -> PartsOfObject? {
    var operation = operation
    operation.partNumber = 1
    guard case .exists(let first) = try await perform(operation, retrying: policy),
      first.parsedETag == object.parsedETag,
      let size = first.headers.contentLength, size > 0,
      // A store that does not support part numbers returns the whole object.
      first.partsCount != nil || size != object.size
    else { return nil }
    return PartsOfObject(count: first.partsCount, size: size)
  }

  /// The size of each part, by a HEAD of each, eight at a time; nil if the store does not say.
  func cut(of object: ObjectInfo, _ operation: HeadObject) async -> PartCut? {
    guard let length = object.size, let count = object.partCount, S3Limits.partNumbers.contains(count) else {
      return nil
    }
    let sizes = await withTaskGroup(of: (Int, Int64?).self) { group in
      var sizes = [Int64](repeating: 0, count: count)
      var next = 1
      func ask() {
        let number = next
        next += 1
        group.addTask { (number, await size(ofPart: number, of: object, operation)) }
      }
      while next <= min(count, 8) { ask() }
      while let (number, size) = await group.next() {
        guard let size else {
          group.cancelAll()
          return nil as [Int64]?
        }
        sizes[number - 1] = size
        if next <= count { ask() }
      }
      return sizes
    }
    return sizes.flatMap { PartCut(sizes: $0, of: length) }
  }

  /// Whether the last part has the size that it has in this division, as far as the store says.
  func hasLastPart(_ cut: PartCut, of object: ObjectInfo, _ operation: HeadObject) async -> Bool {
    let size = await size(ofPart: cut.count, of: object, operation)
    return size == nil || size == cut.range(of: cut.count).length
  }

  private func size(ofPart number: Int, of object: ObjectInfo, _ operation: HeadObject) async -> Int64? {
    var operation = operation
    operation.partNumber = number
    guard case .exists(let part)? = try? await perform(operation, retrying: RetryPolicy(tries: 3)),
      part.parsedETag == object.parsedETag
    else { return nil }
    return part.headers.contentLength.flatMap { $0 > 0 ? $0 : nil }
  }
}

extension ObjectInfo {
  /// Whether only the checksums of its parts can prove its bytes.
  var needsParts: Bool { wholeChecksums.isEmpty && isInParts }

  /// How many parts it was made of, if its ETag or a checksum shows that.
  var partCount: Int? { parsedETag?.parts ?? composite?.1 }

  var isInParts: Bool { partCount.map { $0 > 1 } ?? false }
}
