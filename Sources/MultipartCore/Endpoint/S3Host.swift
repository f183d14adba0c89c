import MultipartBasics

/// Parses an S3 host that an answer names. A server must not choose where signed requests go: a host counts only if it
/// is S3's own, in the bucket's partition.
struct S3Host: Sendable, Equatable {
  let region: String
  let usesPath: Bool
  let isFIPS: Bool

  /// Parses hosts such as `bucket.s3-us-west-2.amazonaws.com`, `s3.dualstack.eu-west-1.amazonaws.com`,
  /// `bucket.s3-fips.us-gov-west-1.…`.
  init?(_ host: String, bucket: String, partition: Partition) {
    // A host name is ASCII.
    guard host.utf8.count <= 253, host.utf8.allSatisfy(ASCII.isVisible), host.ends(with: "." + partition.dnsSuffix)
    else { return nil }
    var rest = host.dropLast(partition.dnsSuffix.utf8.count + 1)
    let inHost = rest.rest(after: bucket + ".")
    usesPath = inHost == nil
    rest = inHost ?? rest
    isFIPS = rest.begins(with: "s3-fips.")
    if rest == "s3" {
      region = EndpointResolver.defaultRegion
    } else if let front = ["s3-fips.dualstack.", "s3-fips.", "s3.dualstack.", "s3.", "s3-"].first(where: {
      rest.begins(with: $0)
    }) {
      region = String(rest.dropFirst(front.utf8.count))
    } else {
      return nil
    }
    guard AWSHost.isRegion(region), Partition.of(region: region) == partition else { return nil }
  }
}
