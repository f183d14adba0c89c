import Foundation

/// A host of AWS, which the fake plays for clients that use it as their proxy: it answers for every region.
struct FakeAWSHost: Sendable {
  /// The bucket in front of the host; nil if the bucket is in the path.
  var bucket: String?
  /// The region; nil if the host does not contain one: acceleration.
  var region: String?

  /// Parses hosts such as `bucket.s3.eu-west-1.amazonaws.com`, `s3-fips.dualstack.us-gov-west-1.amazonaws.com` and
  /// `b.s3-us-west-2.amazonaws.com`.
  init?(_ host: String) {
    guard host.hasSuffix(".amazonaws.com") else { return nil }
    var labels = host.split(separator: ".").dropLast(2).map(String.init)
    guard let service = labels.lastIndex(where: { $0 == "s3" || $0.hasPrefix("s3-") || $0.hasPrefix("s3express-") })
    else { return nil }
    bucket = service == 0 ? nil : labels[..<service].joined(separator: ".")
    labels = labels[service...].filter { $0 != "dualstack" }
    if labels.count > 1 {
      region = labels[1]
    } else if labels[0] == "s3" {
      region = "us-east-1"
    } else if let digit = labels[0].last, digit.isNumber {
      region = String(labels[0].dropFirst(3))
    }
  }
}
