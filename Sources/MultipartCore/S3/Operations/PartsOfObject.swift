/// Into which parts an object was cut, as far as the HEAD of its first part shows it.
package struct PartsOfObject: Sendable, Equatable {
  /// Nil if the store does not say.
  package var count: Int?
  /// Of the first one: as a rule all have this size but the last.
  package var size: Int64

  /// If the parts have equal sizes but for the last.
  func plan(of object: ObjectInfo) -> UploadPlan? {
    guard let count = object.partCount ?? count, count > 1, let length = object.size,
      let plan = try? UploadPlan(inParts: length, of: size), plan.partCount == count
    else { return nil }
    return plan
  }
}

extension S3Client {
  /// `operation` is the HEAD that has found the object. Nil if it was sent in one request, or if the store does not tell.
  func parts(
    of object: ObjectInfo, _ operation: HeadObject, retrying policy: RetryPolicy = RetryPolicy(tries: 1)
  ) async throws(Failure) -> PartsOfObject? {
    var operation = operation
    operation.partNumber = 1
    guard case .exists(let first) = try await perform(operation, retrying: policy), first.etag == object.etag,
      let size = first.headers["Content-Length"].flatMap({ Int64(ASCII.trimmed($0), in: 1 ... .max) }),
      // A store that does not know part numbers answers with the whole object.
      first.partsCount != nil || size != object.size
    else { return nil }
    return PartsOfObject(count: first.partsCount, size: size)
  }
}

extension ObjectInfo {
  /// Of how many parts it was made, if its ETag or a checksum shows that.
  var partCount: Int? {
    if case .multipart(_, let parts)? = etag.flatMap(ETag.init)?.form { return parts }
    return composite?.1
  }

  var isInParts: Bool { partCount.map { $0 > 1 } ?? false }
}
