/// One bucket at its endpoint: origin and paths of every request about it, and what signs them.
package struct BucketEndpoint: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case bucket = "bucket"
    case accessPoint = "access point"
    case objectLambda = "Object Lambda access point"
    case outposts = "bucket on Outposts"
    /// S3 Express One Zone: requests are signed by a session.
    case directory = "directory bucket"
  }

  package let question: EndpointQuestion
  package let kind: Kind
  package let origin: Origin
  /// What stands in front of every path: empty, or `/s3` without a slash at its end.
  let basePath: String
  /// The bucket is the first part of the path, not of the host.
  package let usesPath: Bool
  /// That the signature is for.
  package let region: String
  package let signingName: String
  /// An endpoint of AWS, found by AWS's rules; else a store given by its URL.
  package let isAWS: Bool

  package var bucket: String { question.bucket }

  /// The path, encoded once, of requests about the bucket itself.
  package var pathForBucket: String {
    usesPath ? "\(basePath)/\(PercentEncoding.query(bucket))" : "\(basePath)/"
  }

  /// The path of an object, encoded once and never normalised: the key `/a` in a bucket's path is `/bucket//a`.
  package func path(forKey key: String) -> String {
    (usesPath ? pathForBucket + "/" : pathForBucket) + PercentEncoding.path(key)
  }

  /// The same bucket in another region; at a store of one's own only the signature changes.
  package func moved(to region: String) throws(Failure) -> BucketEndpoint {
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
