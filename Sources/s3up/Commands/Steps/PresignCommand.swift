import MultipartBasics
import MultipartCore

/// `s3up presign s3://BUCKET/KEY`: prints URLs, one per line. The only request to the store is for its region, if none
/// is set.
struct PresignCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let url = try S3URL.object(try session.invocation.arguments("s3://BUCKET/KEY")[0], for: .presign)
    let choices = try PresignChoices(session.invocation)
    let parts = try PresignedParts(choices).parts
    let store = try await session.store(url.bucket)
    if store.regionIsGuessed {
      // A request would follow a redirect, but a URL that someone else uses must name the right region.
      session.world.log(
        0,
        "the bucket's region is not set, and AWS did not return it: the URL is for \(store.region); give --region"
      )
    }
    var hasWarned = false
    for part in parts {
      var options = choices.options
      options.partNumber = part.number
      options.contentMD5 = part.md5
      let signed = try await store.presign(choices.method, url.key ?? "", for: .seconds(choices.expires), options)
      if let end = signed.expires, !hasWarned { hasWarned = warn(end, store, asked: choices.expires) }
      try session.row(signed.url, json: json(signed, part.number))
    }
  }

  /// Says once that the URLs end earlier than was asked for.
  private func warn(_ end: Timestamp, _ store: Store, asked seconds: Int64) -> Bool {
    guard end.seconds - store.now.seconds < seconds - 60 else { return false }
    session.world.log(
      0, "the URL expires with the credentials that sign it, at \(end.iso8601); long-lived keys give it its whole time")
    return true
  }

  private func json(_ signed: PresignedURL, _ part: Int?) -> String {
    JSON.object([
      ("url", .string(signed.url)), ("method", .string(signed.method.rawValue)),
      ("headers", .object(signed.headers.map { ($0.name, .string($0.value)) })),
      ("part", .optional(part)), ("expires", .optional(signed.expires?.iso8601)),
    ]).encoded
  }
}
