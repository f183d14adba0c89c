import MultipartBasics

/// Reads those of a bucket's lifecycle rules that abort unfinished uploads: `GET /?lifecycle`.
struct GetBucketLifecycle: S3Operation {
  static let name = OperationName(
    "GetBucketLifecycleConfiguration",
    needs: "s3:GetLifecycleConfiguration on the bucket")

  /// An enabled rule that aborts uploads.
  struct Rule: Sendable, Equatable {
    var id: String?
    /// The prefix of the keys that it applies to; empty: all keys.
    var prefix = ""
    /// The number of days after an upload was begun.
    var days: Int64

    func holds(for key: String) -> Bool { key.begins(with: prefix) }
  }

  var bucket: BucketAddress

  init(_ bucket: BucketAddress) {
    self.bucket = bucket
  }

  var place: Place { bucket.place }

  func request() throws(Failure) -> S3Request {
    return try S3Request(Self.name, .get, place: place, query: [QueryItem("lifecycle")], headers: bucket.common.list())
  }

  /// The rules; empty if the bucket has none.
  func output(from answer: Response) throws(Failure) -> [Rule] {
    try rules(answer, "Rule", of: "LifecycleConfiguration", none: "NoSuchLifecycleConfiguration")
      .compactMap(Self.rule)
  }

  /// The rule of an element. A rule that filters by tags or sizes aborts no uploads: S3 refuses that combination.
  private static func rule(_ element: XMLElement) -> Rule? {
    guard ASCII.trimmed(element.string("Status") ?? "") == "Enabled",
      let abort = element.first("AbortIncompleteMultipartUpload"),
      let days = abort.integer("DaysAfterInitiation", in: 1...Int64(1_000_000))
    else { return nil }
    let filter = element.first("Filter")
    let and = filter?.first("And")
    guard filter?.first("Tag") == nil, and?.first("Tag") == nil else { return nil }
    let prefix = and?.string("Prefix") ?? filter?.string("Prefix") ?? element.string("Prefix") ?? ""
    return Rule(id: element.string("ID"), prefix: prefix, days: days)
  }
}
