/// Finds where a bucket's requests go, from what was asked for. What it cannot be sure of it refuses: a plausible
/// wrong address would be sent the data.
package enum EndpointResolver {
  package static let defaultRegion = "us-east-1"

  /// `blame` is the code of a failure that the endpoint URL or the region causes: `.usage` when they were options,
  /// `.configuration` when they came from variables or files.
  package static func resolve(
    bucket: String, region: String? = nil, endpointURL: String? = nil, addressing: Addressing = .auto,
    blame: Failure.Code = .usage
  ) throws(Failure) -> BucketEndpoint {
    let endpoint = try resolve(region: region, endpointURL: endpointURL, addressing: addressing, blame: blame)
    return try endpoint.bucket(bucket)
  }

  /// The endpoint alone. An empty region or URL is one that was not given.
  package static func resolve(
    region: String?, endpointURL: String?, addressing: Addressing = .auto, blame: Failure.Code = .usage
  ) throws(Failure) -> Endpoint {
    let region = region.flatMap { $0.isEmpty ? nil : $0 } ?? defaultRegion
    if let endpointURL, !endpointURL.isEmpty {
      // A store of one's own may call its region anything that fits into the scope of a signature.
      guard region.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/,".utf8.contains($0) }) else {
        throw Failure(blame, "a region cannot have a space, a slash or a comma in its name")
      }
      let url = try EndpointURL.parse(endpointURL, blame: blame)
      return Endpoint(
        scheme: url.scheme, host: url.host, port: url.port, basePath: url.path, region: region, addressing: addressing)
    }
    guard BucketName.isLabel(region) else {
      throw Failure(
        blame, "\"\(BucketName.printable(region))\" is not the name of a region of AWS",
        hint: "regions look like eu-west-1; give --endpoint-url for another store")
    }
    return Endpoint(
      scheme: .https, host: "s3.\(region).\(Partition.dnsSuffix(region: region))", region: region,
      addressing: addressing, isAWS: true)
  }
}

extension Endpoint {
  /// Where this bucket's requests go.
  package func bucket(_ name: String) throws(Failure) -> BucketEndpoint {
    try isAWS ? BucketName.checkForAWS(name) : BucketName.check(name)
    return BucketEndpoint(endpoint: self, bucket: name, usesPath: try usesPath(for: name))
  }

  private func usesPath(for name: String) throws(Failure) -> Bool {
    switch addressing {
    case .path: return true
    case .auto:
      guard isAWS else { return true }
      // AWS's certificate is for one label: `*.s3.eu-west-1.amazonaws.com` does not cover `a.b.s3…`.
      return !BucketName.fitsHost(name) || (scheme == .https && name.utf8.contains(UInt8(ascii: ".")))
    case .virtual:
      guard BucketName.fitsHost(name) else {
        throw Failure(
          .usage, "the bucket \"\(name)\" cannot be part of a host name, as --addressing virtual asks",
          hint: "use --addressing path")
      }
      guard !isAddress else {
        throw Failure(
          .usage, "a bucket cannot be put in front of an address, as --addressing virtual asks",
          hint: "use --addressing path, or the name of the host")
      }
      return false
    }
  }

  /// The host is an IPv4 or IPv6 address.
  private var isAddress: Bool { host.hasPrefix("[") || BucketName.looksLikeAddress(host) }
}
