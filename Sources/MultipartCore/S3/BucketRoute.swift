import MultipartBasics

/// Where a bucket's requests go. All requests of a run share it, so that what one of them learns holds for all.
///
/// | the answer | on AWS | at a URL |
/// | --- | --- | --- |
/// | 301, 307, `AuthorizationHeaderMalformed`, a HEAD's 400, that name another region | host and signature change | the signature changes |
/// | 301, 307 to another host of S3 in the same partition, over the same scheme | host and signature change | a failure |
/// | 301, 307 to any other host | refused | a failure |
///
/// There is one move per run: a second one means a store that redirects in circles.
final class BucketRoute: Sendable {
  private struct State {
    var bucket: BucketEndpoint
    var hasMoved = false
  }

  private let state: Locked<State>

  init(_ bucket: BucketEndpoint) {
    state = Locked(State(bucket: bucket))
  }

  var bucket: BucketEndpoint { state.withLock { $0.bucket } }

  func learn(from answer: Response, to request: Request) -> Lesson? {
    guard let redirect = Redirect(answer) else { return nil }
    return state.withLock { state in
      // An ARN and a zone name their region: a different region is a mistake.
      guard state.bucket.kind == .bucket else { return nil }
      if state.hasMoved { return Self.wasMade(request, for: state.bucket) ? nil : .region(nil) }
      do throws(Failure) {
        guard let next = try redirect.next(from: state.bucket), next != state.bucket else { return nil }
        // Without a signature, a store at a URL would get the same request again.
        guard next.origin != state.bucket.origin || request.headers["Authorization"] != nil else { return nil }
        let said = Self.sentence(from: state.bucket, to: next)
        state = State(bucket: next, hasMoved: true)
        return .region(said)
      } catch {
        return .refusal(error)
      }
    }
  }

  private static func sentence(from old: BucketEndpoint, to new: BucketEndpoint) -> Wording {
    let name = "the bucket \(SafeText.oneLine(old.bucket))"
    if old.region == new.region { return "\(name) is temporarily at \(new.origin.host): requests go there" }
    return
      "\(name) is in \(new.region), not in \(old.region): requests go there; \(.region, new.region) saves the detour"
  }

  /// Whether the request was made for this bucket: requests that were sent before another one learned of the move
  /// return the old answer.
  private static func wasMade(_ request: Request, for bucket: BucketEndpoint) -> Bool {
    guard request.url.begins(with: "\(bucket.origin)/") else { return false }
    guard let signature = request.headers["Authorization"] else { return true }
    return signature.holds("/\(bucket.region)/\(bucket.signingName)/aws4_request")
  }
}

/// An answer by which a store says that the bucket is elsewhere.
struct Redirect {
  private let region: String?
  /// The target as the store named it: scheme and host, or only the host.
  private let target: String?
  private let status: Int

  static let codes: Set<String> = [
    "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect", "Redirect",
    "IllegalLocationConstraintException",
  ]

  init?(_ answer: Response) {
    guard [301, 302, 307, 308, 400, 403].contains(answer.status) else { return nil }
    let body = S3ErrorBody(answer.body)
    let isRedirect = answer.status < 400
    let named = answer.headers[HeaderName.bucketRegion].flatMap(S3ErrorBody.region)
    let isKnown = (body.code ?? S3ErrorBody.code(answer.headers)).map(Self.codes.contains) ?? false
    // A HEAD that is refused because its signature is for the wrong region has no body to say so.
    guard isRedirect || isKnown || (answer.status == 400 && body.form == .empty && named != nil) else { return nil }
    region = named ?? body.region
    target = isRedirect ? answer.headers["Location"] ?? body.endpoint : nil
    status = answer.status
  }

  /// The new location; nil if it is the same one, or if the answer does not say.
  func next(from bucket: BucketEndpoint) throws(Failure) -> BucketEndpoint? {
    if let region, region != bucket.region {
      guard bucket.isAWS else { return try bucket.moved(to: region) }
      guard AWSHost.isRegion(region), Partition.of(region: region) == Partition.of(region: bucket.region) else {
        return nil
      }
      return try bucket.moved(to: region)
    }
    guard bucket.isAWS, let target else { return nil }
    return try host(target, from: bucket)
  }

  private func host(_ target: String, from bucket: BucketEndpoint) throws(Failure) -> BucketEndpoint? {
    // A path without a host stays on the same host.
    guard !target.begins(with: "/") || target.begins(with: "//") else { return nil }
    let text = target.holds("//") ? target : "\(bucket.origin.scheme.rawValue)://\(target)"
    let place = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let url = try? EndpointURL.parse(String(decoding: Array(place), as: UTF8.self), blame: .refused),
      url.scheme == bucket.origin.scheme, url.port == nil,
      let named = S3Host(url.host, bucket: bucket.bucket, partition: Partition.of(region: bucket.region)),
      named.isFIPS || !bucket.question.options.fips
    else {
      throw Failure(
        .refused, "the store sends the requests to another host, which is not S3's own in this part of AWS",
        status: status, remedy: "a proxy on the way may have answered: nothing was sent there")
    }
    guard url.host != bucket.origin.host else { return nil }
    return bucket.at(
      Origin(scheme: url.scheme, host: url.host), usesPath: named.usesPath, region: named.region)
  }
}
