import MultipartBasics

/// A part of AWS with its own domain, recognised by the prefix of its regions' names.
struct Partition: Sendable, Equatable {
  /// The partition's name in ARNs.
  let name: String
  /// The domain after `s3.<region>.`
  let dnsSuffix: String
  /// The prefix of its regions' names; empty for the first partition, which has all other regions.
  private let beginning: String

  private static let aws = Partition(name: "aws", dnsSuffix: "amazonaws.com", beginning: "")

  /// Longer prefixes come first: `us-isob` is not `us-iso`.
  private static let others = [
    Partition(name: "aws-cn", dnsSuffix: "amazonaws.com.cn", beginning: "cn-"),
    Partition(name: "aws-us-gov", dnsSuffix: "amazonaws.com", beginning: "us-gov-"),
    Partition(name: "aws-iso", dnsSuffix: "c2s.ic.gov", beginning: "us-iso-"),
    Partition(name: "aws-iso-b", dnsSuffix: "sc2s.sgov.gov", beginning: "us-isob-"),
    Partition(name: "aws-iso-e", dnsSuffix: "cloud.adc-e.uk", beginning: "eu-isoe-"),
    Partition(name: "aws-iso-f", dnsSuffix: "csp.hci.ic.gov", beginning: "us-isof-"),
    Partition(name: "aws-eusc", dnsSuffix: "amazonaws.eu", beginning: "eusc-"),
  ]

  static func of(region: String) -> Partition {
    others.first { region.begins(with: $0.beginning) } ?? aws
  }

  /// The partitions whose domain this host has; none if it is not one of AWS's.
  static func all(ofHost host: String) -> [Partition] {
    (others + [aws]).filter { host.ends(with: "." + $0.dnsSuffix) }
  }

  /// China has no FIPS endpoints.
  var hasFIPS: Bool { name != "aws-cn" }

  /// Only the commercial regions have Transfer Acceleration.
  var hasAcceleration: Bool { name == Self.aws.name }
}
