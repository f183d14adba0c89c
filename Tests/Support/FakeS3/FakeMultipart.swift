import Foundation
@testable import MultipartCore

/// Create, UploadPart, Abort and everything that operations on an upload have in common.
extension FakeServer {
  private static var noSuchUpload: FakeS3Error {
    FakeS3Error(
      .noSuchUpload,
      "The specified upload does not exist. The upload ID may be invalid, or the upload may have been "
        + "aborted or completed.")
  }

  /// The upload that a request names, by id, bucket and key.
  static func upload(_ route: FakeRoute, in state: FakeState) throws(FakeS3Error) -> FakeUpload {
    guard let id = route.uploadID, let upload = state.uploads[id], upload.bucket.utf8.elementsEqual(route.bucket.utf8),
      upload.key.utf8.elementsEqual(route.key.utf8)
    else { throw noSuchUpload }
    return upload
  }

  func guarded<T>(_ body: (inout FakeState) throws(FakeS3Error) -> T) throws(FakeS3Error) -> T {
    let result = state.with { state -> Result<T, FakeS3Error> in
      do throws(FakeS3Error) { return .success(try body(&state)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  func create(_ head: HTTPHead, _ route: FakeRoute, _ admitted: Admitted) throws(FakeS3Error) -> HTTPAnswer {
    try guarded { state throws(FakeS3Error) in
      let (algorithm, type) = try Self.checksumOfCreate(head.headers, state.options)
      let order = state.next()
      let id = String(hex(FakeHash.sha256.of("upload \(order) \(route.key)".utf8)).prefix(56)) + ".-_~"
      let upload = FakeUpload(
        id: id, bucket: route.bucket, key: route.key, headers: head.headers, initiated: state.now,
        algorithm: algorithm, checksumType: type, customerKey: admitted.customerKey, order: order)
      state.uploads[id] = upload
      state.orders[id] = order
      var headers =
        state.options.createNamesEncryption ? Self.encryption(of: head.headers, state.options) : HeaderList()
      headers.add("x-amz-checksum-algorithm", algorithm?.name)
      headers.add("x-amz-checksum-type", type?.rawValue)
      headers.add("x-amz-abort-date", state.options.abortDate)
      headers.add("x-amz-abort-rule-id", state.options.abortDate.map { _ in "clean" })
      return HTTPAnswer(
        200,
        xml: XMLNode(
          "InitiateMultipartUploadResult",
          [XMLNode("Bucket", route.bucket), XMLNode("Key", route.key), XMLNode("UploadId", id)]),
        headers: headers)
    }
  }

  private static func checksumOfCreate(
    _ headers: HeaderList, _ options: FakeOptions
  ) throws(FakeS3Error) -> (FakeChecksum?, FakeChecksumType?) {
    guard options.checksums == .verified else { return (nil, nil) }
    let named = headers["x-amz-checksum-algorithm"]
    let typed = headers["x-amz-checksum-type"]
    guard let named else {
      guard typed == nil else {
        throw FakeS3Error(
          .invalidRequest, "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.")
      }
      return (nil, nil)
    }
    guard let algorithm = FakeChecksum.allCases.first(where: { $0.name == named.uppercased() }) else {
      throw FakeS3Error(.invalidRequest, "Checksum algorithm provided is unsupported.")
    }
    guard let typed else { return (algorithm, algorithm.defaultType) }
    guard let type = FakeChecksumType(rawValue: typed.uppercased()) else {
      throw FakeS3Error(.invalidRequest, "Value for x-amz-checksum-type header is invalid.")
    }
    guard algorithm.allows(type) else {
      throw FakeS3Error(
        .invalidRequest,
        "The \(type.rawValue) checksum type cannot be used with the \(algorithm.rawValue) checksum algorithm.")
    }
    return (algorithm, type)
  }

  func admitPart(
    _ head: HTTPHead, _ route: FakeRoute, _ sent: FakeChecksum?, _ customerKey: String?, _ options: FakeOptions,
    _ plan: inout IntakePlan
  ) throws(FakeS3Error) {
    guard let number = route.partNumber, (1...10_000).contains(number) else {
      throw FakeS3Error(.invalidArgument, "Part number must be an integer between 1 and 10000, inclusive")
    }
    let upload = try guarded { state throws(FakeS3Error) in try Self.upload(route, in: state) }
    guard (head.contentLength ?? 0) <= options.maximumPartSize else {
      throw FakeS3Error(.entityTooLarge, "Your proposed upload exceeds the maximum allowed size")
    }
    guard upload.customerKey == customerKey else {
      throw FakeS3Error(
        .invalidRequest,
        customerKey == nil
          ? "The multipart upload initiate requested encryption. Subsequent part requests must include the appropriate "
            + "encryption parameters."
          : "The provided encryption parameters did not match the ones used originally.")
    }
    try Self.needDigest(head.headers, for: upload.headers)
    if options.checksums == .verified {
      guard upload.algorithm == sent else {
        throw FakeS3Error(
          .invalidRequest,
          "Checksum Type mismatch occurred, expected checksum Type: \(upload.algorithm?.rawValue ?? "null"), "
            + "actual checksum Type: \(sent?.rawValue ?? "null")")
      }
      if upload.algorithm == nil, options.addsDefaultChecksum { plan.checksums.insert(.crc64nvme) }
    }
    plan.keeps = options.storage == .memory
    if options.partETags == .md5 { plan.md5 = true }
  }

  func uploadPart(
    _ head: HTTPHead, _ route: FakeRoute, _ admitted: Admitted, _ body: ReceivedBody
  ) throws(FakeS3Error) -> HTTPAnswer {
    try verifyChecksum(admitted, body)
    return try guarded { state throws(FakeS3Error) in
      // The upload is looked up again: it may have been aborted or completed while the body was received.
      let upload = try Self.upload(route, in: state)
      let number = route.partNumber ?? 0
      let etag = Self.etag(of: body, for: upload.headers, &state)
      let part = FakePart(
        number: number, size: body.length, etag: etag, headers: head.headers, modified: state.now,
        checksum: upload.algorithm.flatMap { body.checksums[$0] } ?? body.checksums[.crc64nvme],
        algorithm: upload.algorithm, content: admitted.plan.keeps ? body.bytes : nil)
      state.uploads[upload.id]?.parts[number] = part
      var headers = Self.encryption(of: upload.headers, state.options)
      headers.add("ETag", "\"\(etag)\"")
      if let sent = admitted.sent { headers.add(sent.algorithm.header, sent.value) }
      return HTTPAnswer(200, headers: headers)
    }
  }

  /// The MD5 of the bytes, except for SSE-C and KMS, for which S3 returns something else.
  static func etag(of body: ReceivedBody, for created: HeaderList, _ state: inout FakeState) -> String {
    let encrypted =
      created["x-amz-server-side-encryption-customer-algorithm"] != nil
      || created["x-amz-server-side-encryption"]?.hasPrefix("aws:kms") == true
    if state.options.partETags == .odd { return "odd-etag-\(state.next())-\(body.length)" }
    if let md5 = body.md5, state.options.partETags == .md5, !encrypted { return hex(md5) }
    return hex(FakeHash.md5.of("opaque \(state.next())".utf8))
  }

  func abort(_ route: FakeRoute) throws(FakeS3Error) -> HTTPAnswer {
    try guarded { state throws(FakeS3Error) in
      do throws(FakeS3Error) {
        state.uploads[try Self.upload(route, in: state).id] = nil
      } catch {
        guard state.options.repeatedAbort == .success else { throw error }
      }
      return HTTPAnswer(204)
    }
  }

  /// The encryption headers of an answer; the customer's key itself is never returned.
  static func encryption(of created: HeaderList, _ options: FakeOptions) -> HeaderList {
    var out = HeaderList()
    let prefix = "x-amz-server-side-encryption"
    switch options.encryption {
    case .asAsked: break
    case .none: return out
    case .always(let algorithm): return [prefix: algorithm]
    }
    if created["\(prefix)-customer-algorithm"] != nil {
      out.add("\(prefix)-customer-algorithm", created["\(prefix)-customer-algorithm"])
      out.add("\(prefix)-customer-key-md5", created["\(prefix)-customer-key-md5"])
      return out
    }
    out.add(prefix, created[prefix] ?? "AES256")
    out.add("\(prefix)-aws-kms-key-id", created["\(prefix)-aws-kms-key-id"])
    out.add("\(prefix)-bucket-key-enabled", created["\(prefix)-bucket-key-enabled"])
    return out
  }
}
