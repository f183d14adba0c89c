import MultipartBasics

/// Where the bucket's name goes in URLs.
public enum Addressing: String, Sendable, CaseIterable {
  /// On AWS in the host if possible, elsewhere in the path.
  case auto
  /// In the host: `https://bucket.s3.example.com/key`.
  case virtual
  /// In the path: `https://s3.example.com/bucket/key`.
  case path
}

/// Which of AWS's endpoints to use.
struct EndpointOptions: Sendable, Equatable {
  var addressing = Addressing.auto
  /// Whether `virtual` is only a preference, as in the shared files: a name that is not allowed in a host goes into the
  /// path.
  var addressingIsWish = false
  var accelerate = false
  var dualstack = false
  var fips = false
  /// Whether an ARN's own region overrides the given one.
  var usesARNRegion = true
  /// Whether `us-east-1` is addressed by its oldest name, `s3.amazonaws.com`.
  var usesGlobalEndpoint = false
  /// The code of a failure caused by two of these options together: `.usage` if the caller set them, `.configuration`
  /// if variables or files did.
  var blame = Failure.Code.usage

  init(addressing: Addressing = .auto) {
    self.addressing = addressing
  }
}

/// Everything that determines where a bucket's requests go.
struct EndpointQuestion: Sendable, Equatable {
  /// The bucket: a name, an alias or an ARN.
  var bucket: String
  /// The region; nil if none is set. An empty one counts as none.
  var region: String?
  var endpointURL: String?
  /// Where the endpoint URL came from, in words.
  var endpointSource: String?
  var options: EndpointOptions
  /// The code of a failure caused by the endpoint URL or the region.
  var blame: Failure.Code

  init(
    bucket: String, region: String? = nil, endpointURL: String? = nil, options: EndpointOptions = EndpointOptions(),
    blame: Failure.Code = .usage
  ) {
    self.bucket = bucket
    self.region = region.flatMap { $0.isEmpty ? nil : $0 }
    self.endpointURL = endpointURL.flatMap { $0.isEmpty ? nil : $0 }
    self.options = options
    self.blame = blame
  }

  /// The region in the bucket's name: that of an ARN, or of a directory bucket's zone.
  var regionOfName: String? {
    if bucket.begins(with: "arn:") { return ARN(bucket).flatMap { $0.region.isEmpty ? nil : $0.region } }
    return ZonalName(bucket)?.region
  }
}
