/// Where the bucket's name goes.
public enum Addressing: String, Sendable, CaseIterable {
  /// In the host on AWS where it can, in the path elsewhere.
  case auto
  /// In the host: `https://bucket.s3.example.com/key`
  case virtual
  /// In the path: `https://s3.example.com/bucket/key`
  case path
}

/// Which of AWS's endpoints is wanted.
package struct EndpointOptions: Sendable, Equatable {
  package var addressing = Addressing.auto
  /// `virtual` is a wish, as in the shared files: a name that does not fit into a host goes into the path.
  package var addressingIsWish = false
  package var accelerate = false
  package var dualstack = false
  package var fips = false
  /// An ARN's own region counts, not the one that was given.
  package var usesARNRegion = true
  /// `us-east-1` by its oldest name, `s3.amazonaws.com`.
  package var usesGlobalEndpoint = false
  /// The code of a failure that two of these cause together: `.usage` when they were options, `.configuration` when
  /// they came from variables or files.
  package var blame = Failure.Code.usage

  package init(addressing: Addressing = .auto) {
    self.addressing = addressing
  }
}

/// All that decides where a bucket's requests go.
package struct EndpointQuestion: Sendable, Equatable {
  /// A name, an alias or an ARN.
  package var bucket: String
  /// Nil when nobody said; an empty one was not given.
  package var region: String?
  package var endpointURL: String?
  package var options: EndpointOptions
  /// The code of a failure that the endpoint URL or the region causes.
  package var blame: Failure.Code

  package init(
    bucket: String, region: String? = nil, endpointURL: String? = nil, options: EndpointOptions = EndpointOptions(),
    blame: Failure.Code = .usage
  ) {
    self.bucket = bucket
    self.region = region.flatMap { $0.isEmpty ? nil : $0 }
    self.endpointURL = endpointURL.flatMap { $0.isEmpty ? nil : $0 }
    self.options = options
    self.blame = blame
  }

  /// The region that the bucket's name tells: an ARN's, or that of a directory bucket's zone.
  package var regionOfName: String? {
    if bucket.hasPrefix("arn:") { return ARN(bucket).flatMap { $0.region.isEmpty ? nil : $0.region } }
    return ZonalName(bucket)?.region
  }
}
