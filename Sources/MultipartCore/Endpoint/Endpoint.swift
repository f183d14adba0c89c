/// `--addressing`: where the bucket's name goes.
package enum Addressing: String, Sendable, CaseIterable {
  /// In the host on AWS where it can, in the path elsewhere.
  case auto
  /// In the host: `https://bucket.s3.example.com/key`
  case virtual
  /// In the path: `https://s3.example.com/bucket/key`
  case path
}

/// A store and how it is spoken to, before a bucket is chosen.
package struct Endpoint: Sendable, Equatable {
  package var scheme: Origin.Scheme
  /// Lower case, an IPv6 address in brackets, no port.
  package var host: String
  /// Nil when it is the scheme's own.
  package var port: Int?
  /// What stands in front of every path: empty, or `/s3` without a slash at its end.
  package var basePath: String
  package var region: String
  package var signingName: String
  package var addressing: Addressing
  /// A plain endpoint of AWS, so that AWS's rules for names hold; else a store given by its URL.
  package var isAWS: Bool

  package init(
    scheme: Origin.Scheme, host: String, port: Int? = nil, basePath: String = "", region: String,
    signingName: String = "s3", addressing: Addressing = .auto, isAWS: Bool = false
  ) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.basePath = basePath
    self.region = region
    self.signingName = signingName
    self.addressing = addressing
    self.isAWS = isAWS
  }

  /// Whom requests go to that are about no bucket.
  package var origin: Origin {
    Origin(scheme: scheme, host: port.map { "\(host):\($0)" } ?? host)
  }
}

/// One bucket at its endpoint: origin and paths of every request about it.
package struct BucketEndpoint: Sendable, Equatable {
  package let endpoint: Endpoint
  package let bucket: String
  /// The bucket is the first part of the path, not of the host.
  package let usesPath: Bool

  package init(endpoint: Endpoint, bucket: String, usesPath: Bool) {
    self.endpoint = endpoint
    self.bucket = bucket
    self.usesPath = usesPath
  }

  package var region: String { endpoint.region }
  package var signingName: String { endpoint.signingName }

  package var origin: Origin {
    var origin = endpoint.origin
    if !usesPath { origin.host = "\(bucket).\(origin.host)" }
    return origin
  }

  /// The path, encoded once, of requests about the bucket itself.
  package var pathForBucket: String {
    usesPath ? "\(endpoint.basePath)/\(PercentEncoding.query(bucket))" : "\(endpoint.basePath)/"
  }

  /// The path of an object, encoded once and never normalised: the key `/a` in a bucket's path is `/bucket//a`.
  package func path(forKey key: String) -> String {
    (usesPath ? pathForBucket + "/" : pathForBucket) + PercentEncoding.path(key)
  }
}
