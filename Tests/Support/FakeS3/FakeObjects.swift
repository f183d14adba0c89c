import Foundation
import MultipartBasics
@testable import MultipartCore

/// Operations on whole objects and on buckets.
extension FakeServer {
  /// Performs the operation; the head was admitted and the body is complete.
  func perform(
    _ head: HTTPHead, _ route: FakeRoute, _ admitted: Admitted, _ body: ReceivedBody
  ) throws(FakeS3Error) -> HTTPAnswer {
    try verify(head, admitted, body)
    var head = head
    head.headers = state.with { $0.options.kept(head.headers) }
    switch route.operation {
    case .createMultipartUpload: return try create(head, route, admitted)
    case .uploadPart: return try uploadPart(head, route, admitted, body)
    case .completeMultipartUpload: return try complete(head, route, admitted, body)
    case .abortMultipartUpload: return try abort(route)
    case .listParts: return try listParts(head, route)
    case .listMultipartUploads: return try listUploads(head, route)
    case .listObjects: return try listObjects(head, route)
    case .listObjectVersions: return try listVersions(head, route)
    case .listBuckets: return listBuckets()
    case .putObject: return try putObject(head, route, admitted, body)
    case .getObject, .headObject: return try getObject(head, route, admitted)
    case .getObjectACL, .getObjectTagging, .getObjectRetention, .getObjectLegalHold:
      let ignoresQuery = state.with { $0.options.ignoresSettingsQueries }
      return ignoresQuery ? try getObject(head, route, admitted) : settings(of: try object(head, route), route)
    case .deleteObject:
      state.with { $0.delete(route.bucket, route.key) }
      return HTTPAnswer(204)
    case .headBucket: return HTTPAnswer(200, headers: ["x-amz-bucket-region": state.with { $0.options.region }])
    case .createSession: return createSession()
    case .getBucketLocation:
      let region = state.with { $0.options.region }
      return HTTPAnswer(200, xml: XMLNode("LocationConstraint", region == "us-east-1" ? "" : region))
    case .getBucketLifecycle:
      guard let lifecycle = state.with({ $0.options.lifecycle }) else {
        throw FakeS3Error(.noSuchLifecycleConfiguration, "The lifecycle configuration does not exist")
      }
      return HTTPAnswer(200, headers: ["Content-Type": "application/xml"], body: Data(lifecycle.utf8))
    case .unknown:
      throw FakeS3Error(.notImplemented, "A header or query you provided implies functionality that is not implemented")
    }
  }

  private func putObject(
    _ head: HTTPHead, _ route: FakeRoute, _ admitted: Admitted, _ body: ReceivedBody
  ) throws(FakeS3Error) -> HTTPAnswer {
    try verifyChecksum(admitted, body)
    return try guarded { state throws(FakeS3Error) in
      try Self.checkConditions(head, route, state)
      let checksum = body.checksums.first.map {
        FakeStoredChecksum(algorithm: $0.key, type: .fullObject, value: base64($0.value))
      }
      let object = FakeObject(
        bucket: route.bucket, key: route.key, size: body.length, etag: Self.etag(of: body, for: head.headers, &state),
        headers: head.headers, checksum: checksum,
        versionID: state.options.versioning ? Self.requestID(state.next()) : nil, modified: state.now,
        customerKey: admitted.customerKey, content: admitted.plan.keeps ? body.bytes : nil)
      state.put(object)
      var headers = Self.encryption(of: head.headers, state.options)
      headers.add("ETag", "\"\(object.etag)\"")
      if let checksum {
        headers.add(checksum.algorithm.header, checksum.value)
        headers.add("x-amz-checksum-type", checksum.type.rawValue)
      }
      headers.add("x-amz-version-id", object.versionID)
      return HTTPAnswer(200, headers: headers)
    }
  }

  /// The requested version; a delete marker does not count.
  private func object(_ head: HTTPHead, _ route: FakeRoute) throws(FakeS3Error) -> FakeObject {
    let object = state.with { $0.object(route.bucket, ObjectKey(route.key), versionID: route.versionID) }
    guard let object else {
      throw FakeS3Error(.noSuchKey, "The specified key does not exist.", details: [("Key", route.key)])
    }
    guard !object.isDeleteMarker else {
      throw FakeS3Error(
        .methodNotAllowed, "The specified method is not allowed against this resource.",
        headers: ["x-amz-delete-marker": "true"])
    }
    return object
  }

  private func getObject(_ head: HTTPHead, _ route: FakeRoute, _ admitted: Admitted) throws(FakeS3Error) -> HTTPAnswer {
    let object = try self.object(head, route)
    try CustomerKey.match(object.customerKey, admitted.customerKey)
    let options = state.with { $0.options }
    if let wanted = head.headers["if-match"], Self.unquoted(wanted) != object.etag, wanted != "*",
      !options.ignoresIfMatch
    {
      throw FakeS3Error(.preconditionFailed, "At least one of the pre-conditions you specified did not hold")
    }
    var headers = Self.describe(object, options)
    for name in options.headHides { headers.remove(name) }
    if let none = head.headers["if-none-match"], Self.unquoted(none) == object.etag {
      return HTTPAnswer(304, headers: ["ETag": "\"\(object.etag)\""])
    }
    let partNumber = options.ignoresPartNumbers ? nil : head.query("partNumber")
    let range = options.ignoresRanges ? nil : try Self.range(head, object, partNumber)
    let mode = head.headers["x-amz-checksum-mode"] ?? head.query("x-amz-checksum-mode")
    if mode?.uppercased() == "ENABLED", let checksum = object.checksum {
      if range == nil || (partNumber == nil && range == 0..<object.size) {
        // In the answer to a range S3 omits the number of parts.
        let value = range == nil ? checksum.value : checksum.value.components(separatedBy: "-")[0]
        headers.add(checksum.algorithm.header, value)
        headers.add("x-amz-checksum-type", checksum.type.rawValue)
      } else if let number = partNumber.flatMap({ Int($0) }), let value = object.parts[number - 1].checksumValue {
        headers.add(checksum.algorithm.header, value)
      }
    }
    if let range { headers.add("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(object.size)") }
    if partNumber != nil, !object.parts.isEmpty {
      headers.add("x-amz-mp-parts-count", String(object.parts.count))
    }
    for (name, value) in head.query where name.hasPrefix("response-") {
      headers.set(String(name.dropFirst("response-".utf8.count)), value)
    }
    let wanted = range ?? 0..<object.size
    var answer = HTTPAnswer(range == nil ? 200 : 206, headers: headers)
    answer.headOnly = head.method == "HEAD"
    if answer.headOnly {
      answer.headers.add("Content-Length", String(wanted.count))
    } else if let content = object.content {
      answer.body = content.subdata(in: wanted)
    } else {
      throw FakeS3Error(.notImplemented, "This store keeps no bodies.")
    }
    return answer
  }

  func replaceObject(_ route: FakeRoute) {
    state.with { state in
      guard var object = state.objects[route.bucket]?[ObjectKey(route.key)] else { return }
      object.content?.flip()
      object.etag = String(object.etag.reversed())
      object.modified = Timestamp(seconds: object.modified.seconds + 5)
      if state.options.versioning { object.versionID = "version-\(state.next())" }
      state.put(object)
    }
  }

  /// The headers of the request that created the object, as HEAD returns them.
  private static func describe(_ object: FakeObject, _ options: FakeOptions) -> HeaderList {
    var headers = encryption(of: object.headers, options)
    headers.add("ETag", "\"\(object.etag)\"")
    headers.add("Last-Modified", httpDate(object.modified))
    headers.add("Accept-Ranges", "bytes")
    headers.add("Content-Type", object.headers["content-type"] ?? "binary/octet-stream")
    headers.add("x-amz-version-id", object.versionID)
    for name in [
      "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Expires",
      "x-amz-website-redirect-location", "x-amz-object-lock-mode", "x-amz-object-lock-retain-until-date",
      "x-amz-object-lock-legal-hold",
    ] { headers.add(name, object.headers[name]) }
    if let storage = object.headers["x-amz-storage-class"], storage != "STANDARD" {
      headers.add("x-amz-storage-class", storage)
    }
    if let tags = object.headers["x-amz-tagging"] {
      headers.add("x-amz-tagging-count", String(tags.split(separator: "&").count))
    }
    for (name, value) in object.metadata.sorted(by: { $0.key < $1.key }) { headers.add("x-amz-meta-\(name)", value) }
    return headers
  }

  /// The range of `Range` or `partNumber`; nil for the whole object.
  private static func range(
    _ head: HTTPHead, _ object: FakeObject, _ partNumber: String?
  ) throws(FakeS3Error) -> Range<Int>? {
    let outside = FakeS3Error(
      .invalidRange, "The requested range is not satisfiable", details: [("ActualObjectSize", String(object.size))])
    if let text = partNumber {
      guard let number = Int(text), number >= 1, number <= max(1, object.parts.count) else { throw outside }
      guard !object.parts.isEmpty else { return nil }
      let start = object.parts.prefix(number - 1).reduce(0) { $0 + $1.size }
      return start..<start + object.parts[number - 1].size
    }
    guard let text = head.headers["range"], text.hasPrefix("bytes=") else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    // For several ranges, or one that cannot be read, S3 returns the whole object.
    guard ends.count == 2 else { return nil }
    switch (Int(ends[0]), Int(ends[1])) {
    case (nil, let last?):
      guard last > 0, object.size > 0 else { throw outside }
      return max(0, object.size - last)..<object.size
    case (let first?, let last):
      guard first >= 0, first < object.size, last ?? .max >= first else { throw outside }
      return first..<min(object.size, (last ?? object.size - 1) + 1)
    case (nil, nil): return nil
    }
  }
}

extension Data {
  /// Inverts each bit.
  fileprivate mutating func flip() {
    withUnsafeMutableBytes { bytes in
      let words = bytes.count / 8 * 8
      for at in stride(from: 0, to: words, by: 8) {
        let word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        bytes.storeBytes(of: ~word, toByteOffset: at, as: UInt64.self)
      }
      for at in words..<bytes.count { bytes[at] = ~bytes[at] }
    }
  }
}
