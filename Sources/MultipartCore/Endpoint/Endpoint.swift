import MultipartBasics

/// One bucket at its endpoint: where its requests go, and how they are signed.
struct BucketEndpoint: Sendable, Equatable {
  enum Kind: String, Sendable {
    case bucket = "bucket"
    case accessPoint = "access point"
    case objectLambda = "Object Lambda access point"
    case outposts = "bucket on Outposts"
    /// S3 Express One Zone: requests are signed by a session.
    case directory = "directory bucket"
  }

  let question: EndpointQuestion
  let kind: Kind
  let origin: Origin
  /// The prefix of every path: empty, or `/s3` without a trailing slash.
  let basePath: String
  /// The bucket is in the path, not in the host.
  let usesPath: Bool
  /// The region of the signature.
  let region: String
  let signingName: String
  /// An endpoint of AWS, found by AWS's rules; otherwise a store given by its URL.
  let isAWS: Bool

  var bucket: String { question.bucket }

  /// The path for requests that concern no bucket.
  var pathForService: String { "\(basePath)/" }

  /// The path, encoded once, for requests about the bucket itself.
  var pathForBucket: String {
    usesPath ? "\(basePath)/\(PercentEncoding.query(bucket))" : "\(basePath)/"
  }

  /// The path of an object, encoded once and never normalised: the key `/a` in a bucket's path is `/bucket//a`.
  func path(forKey key: String) -> String {
    (usesPath ? pathForBucket + "/" : pathForBucket) + PercentEncoding.path(key)
  }

  /// The same bucket in another region; at a store given by its URL only the signature changes.
  func moved(to region: String) throws(Failure) -> BucketEndpoint {
    var question = question
    question.region = region
    return try EndpointResolver.resolve(question)
  }

  func at(_ origin: Origin, usesPath: Bool, region: String) -> BucketEndpoint {
    BucketEndpoint(
      question: question, kind: kind, origin: origin, basePath: basePath, usesPath: usesPath, region: region,
      signingName: signingName, isAWS: isAWS)
  }
}
