import Foundation
import MultipartBasics
@testable import MultipartCore

/// The result of checking the head of a request.
struct Admitted: Sendable {
  var plan: IntakePlan
  var payload: String
  var sent: (algorithm: FakeChecksum, value: String)?
  /// The MD5 of the customer's key, in base64.
  var customerKey: String?
}

extension FakeServer {
  /// Checks everything that S3 can refuse before it reads the body.
  func admit(_ head: HTTPHead, _ route: FakeRoute) throws(FakeS3Error) -> Admitted {
    let (options, credentials, now) = state.with { ($0.options, $0.credentials, $0.now) }
    try checkShape(head, route)
    if let region = route.region, region != options.region {
      throw FakeS3Error(
        .permanentRedirect, "The bucket you are attempting to access must be addressed using the specified endpoint.",
        headers: ["x-amz-bucket-region": options.region])
    }
    let payload = try authenticate(head, route, options, credentials, now)
    guard route.operation != .unknown, head.headers["x-amz-copy-source"] == nil else {
      throw FakeS3Error(.notImplemented, "A header or query you provided implies functionality that is not implemented")
    }
    let isAboutBucket = route.operation != .listBuckets
    guard !isAboutBucket || options.buckets.contains(where: { $0.utf8.elementsEqual(route.bucket.utf8) }) else {
      throw FakeS3Error(
        .noSuchBucket, "The specified bucket does not exist", details: [("BucketName", route.bucket)])
    }
    // In a presigned URL both are parameters.
    func said(_ name: String) -> String? { head.headers[name] ?? head.query(name) }
    guard said("x-amz-expected-bucket-owner") ?? options.owner == options.owner,
      !options.requesterPays || said("x-amz-request-payer") == "requester"
    else { throw FakeS3Error(.accessDenied, "Access Denied") }
    guard route.key.utf8.count <= 1024 else {
      throw FakeS3Error(.keyTooLong, "Your key is too long", details: [("MaxSizeAllowed", "1024")])
    }
    try checkMetadata(head.headers)
    let key = try CustomerKey.check(head, mustBeSecure: options.customerKeysNeedTLS)
    let customerKey = options.encryption == .none ? nil : key
    let sent = try checksum(head, options.checksums)
    var plan = IntakePlan(sha256: payload.utf8.count == 64)
    plan.md5 = head.headers["content-md5"] != nil
    if let sent { plan.checksums.insert(sent.algorithm) }
    switch route.operation {
    case .uploadPart:
      try admitPart(head, route, sent?.algorithm, customerKey, options, &plan)
    case .putObject:
      guard (head.contentLength ?? 0) <= options.maximumPartSize else {
        throw FakeS3Error(.entityTooLarge, "Your proposed upload exceeds the maximum allowed size")
      }
      plan.keeps = options.storage == .memory
      if options.partETags == .md5 { plan.md5 = true }
      if sent == nil, options.checksums == .verified, options.addsDefaultChecksum { plan.checksums.insert(.crc64nvme) }
      try Self.needDigest(head.headers, for: head.headers)
    default:
      plan.keeps = true
      guard (head.contentLength ?? 0) <= 4 << 20 else {
        throw FakeS3Error(.entityTooLarge, "Your proposed upload exceeds the maximum allowed size")
      }
    }
    return Admitted(plan: plan, payload: payload, sent: sent, customerKey: customerKey)
  }

  private func checkShape(_ head: HTTPHead, _ route: FakeRoute) throws(FakeS3Error) {
    guard !route.badKey else { throw FakeS3Error(.invalidURI, "Couldn't parse the specified URI.") }
    guard head.headers["host"] != nil else { throw FakeS3Error(.invalidRequest, "Missing Host header") }
    let encoding = head.headers["content-encoding"]?.lowercased() ?? ""
    if head.headers["transfer-encoding"] != nil || encoding.contains("aws-chunked")
      || head.headers["x-amz-trailer"] != nil
    {
      throw FakeS3Error(
        .notImplemented, "A header you provided implies functionality that is not implemented: Transfer-Encoding")
    }
    if head.method == "PUT" || route.operation == .completeMultipartUpload, head.contentLength == nil {
      throw FakeS3Error(.missingContentLength, "You must provide the Content-Length HTTP header.")
    }
  }

  /// Checks the signature; returns what the body's hash must be.
  private func authenticate(
    _ head: HTTPHead, _ route: FakeRoute, _ options: FakeOptions, _ credentials: [String: FakeCredential],
    _ now: Timestamp
  ) throws(FakeS3Error) -> String {
    let anonymous = head.headers["authorization"] == nil && head.query("X-Amz-Signature") == nil
    if anonymous, options.allowsAnonymous { return head.headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD" }
    var check = FakeSigV4(
      head: head, credentials: credentials, now: now.seconds, region: options.checksRegion ? options.region : nil)
    if Self.isDirectory(route.bucket) {
      check.service = "s3express"
      check.needsSession = route.operation != .createSession
    }
    do throws(FakeS3Error) { return try check.verify().payload } catch {
      var wrong = error
      if wrong.code == FakeS3Error.Kind.authorizationHeaderMalformed.rawValue || route.operation == .headBucket {
        wrong.headers.set("x-amz-bucket-region", options.region)
      }
      throw wrong
    }
  }

  private func checkMetadata(_ headers: HeaderList) throws(FakeS3Error) {
    let size = headers.fields.filter { $0.name.lowercased().hasPrefix("x-amz-meta-") }
      .reduce(0) { $0 + $1.name.utf8.count - 11 + $1.value.utf8.count }
    guard size <= 2048 else {
      throw FakeS3Error(
        .metadataTooLarge, "Your metadata headers exceed the maximum allowed metadata size",
        details: [("Size", String(size)), ("MaxSizeAllowed", "2048")])
    }
  }

  private func checksum(
    _ head: HTTPHead, _ kind: FakeOptions.Checksums
  ) throws(FakeS3Error) -> (algorithm: FakeChecksum, value: String)? {
    let prefix = "x-amz-checksum-"
    let named = head.headers.fields.first {
      let name = $0.name.lowercased()
      return name.hasPrefix(prefix) || name == "x-amz-sdk-checksum-algorithm"
    }
    switch kind {
    case .ignored: return nil
    case .refused(let status, let code):
      guard let named, named.name.lowercased() != "x-amz-checksum-mode" else { return nil }
      throw FakeS3Error(
        code: code, status: status,
        message: code == "NotImplemented"
          ? "A header you provided implies functionality that is not implemented"
          : "Unsupported header received: \(named.name.lowercased())")
    case .verified:
      guard let sent = try FakeChecksum.sent(in: head.headers) else { return nil }
      guard unbase64(sent.value.components(separatedBy: "-")[0])?.count == sent.algorithm.length else {
        throw FakeS3Error(.invalidRequest, "Value for \(sent.algorithm.header) header is invalid.")
      }
      return sent
    }
  }

  /// Refuses a request that puts an object under a lock without a digest of the body.
  static func needDigest(_ sent: HeaderList, for created: HeaderList) throws(FakeS3Error) {
    let locked = ["x-amz-object-lock-mode", "x-amz-object-lock-retain-until-date", "x-amz-object-lock-legal-hold"]
      .contains { created[$0] != nil }
    guard locked, sent["content-md5"] == nil, FakeChecksum.allCases.allSatisfy({ sent[$0.header] == nil }) else {
      return
    }
    throw FakeS3Error(
      .invalidRequest,
      "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters")
  }

  /// Compares the digests of a body with the request's headers.
  func verify(_ head: HTTPHead, _ admitted: Admitted, _ body: ReceivedBody) throws(FakeS3Error) {
    if let computed = body.sha256, hex(computed) != admitted.payload.lowercased() {
      throw FakeS3Error(
        .contentSHA256Mismatch, "The provided 'x-amz-content-sha256' header does not match what was computed.",
        details: [
          ("ClientComputedContentSHA256", admitted.payload), ("S3ComputedContentSHA256", hex(computed)),
        ])
    }
    if let text = head.headers["content-md5"] {
      guard let value = unbase64(text), value.count == 16 else {
        throw FakeS3Error(.invalidDigest, "The Content-MD5 you specified was invalid.")
      }
      guard value == body.md5 else {
        throw FakeS3Error(.badDigest, "The Content-MD5 you specified did not match what we received.")
      }
    }
  }

  /// Compares the checksum header of operations that send it for the body; at Complete it is for the object.
  func verifyChecksum(_ admitted: Admitted, _ body: ReceivedBody) throws(FakeS3Error) {
    guard let sent = admitted.sent, let computed = body.checksums[sent.algorithm] else { return }
    guard base64(computed) == sent.value else {
      throw FakeS3Error(
        .badDigest, "The \(sent.algorithm.name) you specified did not match the calculated checksum.")
    }
  }
}

/// SSE-C: the key that the customer sends with every request.
enum CustomerKey {
  /// The MD5 of the key in base64; nil if no key was sent.
  static func check(_ head: HTTPHead, mustBeSecure: Bool) throws(FakeS3Error) -> String? {
    let prefix = "x-amz-server-side-encryption-customer-"
    let fields = ["algorithm", "key", "key-md5"].map { head.headers[prefix + $0] }
    guard fields.contains(where: { $0 != nil }) else { return nil }
    guard fields[0] == "AES256" else {
      throw FakeS3Error(
        .invalidRequest,
        "Requests specifying Server Side Encryption with Customer provided keys must provide a valid "
          + "encryption algorithm.")
    }
    guard let key = fields[1].flatMap({ unbase64($0) }), key.count == 32 else {
      throw FakeS3Error(.invalidArgument, "The secret key was invalid for the specified algorithm.")
    }
    guard let digest = fields[2], digest == base64(FakeHash.md5.of(key)) else {
      throw FakeS3Error(
        .invalidArgument, "The calculated MD5 hash of the key did not match the hash that was provided.")
    }
    guard head.secure || !mustBeSecure else {
      throw FakeS3Error(
        .invalidRequest,
        "Requests specifying Server Side Encryption with Customer provided keys must be made over a "
          + "secure connection.")
    }
    return digest
  }

  /// Checks that a later request sends the key that the object or upload was created with.
  static func match(_ own: String?, _ sent: String?) throws(FakeS3Error) {
    guard own != sent else { return }
    if own == nil {
      throw FakeS3Error(.invalidRequest, "The encryption parameters are not applicable to this object.")
    }
    if sent == nil {
      throw FakeS3Error(
        .invalidRequest,
        "The object was stored using a form of Server Side Encryption. The correct parameters must be "
          + "provided to retrieve the object.")
    }
    throw FakeS3Error(.accessDenied, "The provided encryption parameters did not match the ones used originally.")
  }
}
