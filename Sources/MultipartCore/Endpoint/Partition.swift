/// The parts of AWS that have a domain of their own, told apart by how their regions begin.
package struct Partition: Sendable, Equatable {
  /// As ARNs name it.
  package let name: String
  /// What stands behind `s3.<region>.`
  package let dnsSuffix: String
  /// How its regions begin; empty for the first one, to which all belong that no other claims.
  private let beginning: String

  private static let aws = Partition(name: "aws", dnsSuffix: "amazonaws.com", beginning: "")

  /// The longer beginning comes first: `us-isob` is not `us-iso`.
  private static let others = [
    Partition(name: "aws-cn", dnsSuffix: "amazonaws.com.cn", beginning: "cn-"),
    Partition(name: "aws-us-gov", dnsSuffix: "amazonaws.com", beginning: "us-gov-"),
    Partition(name: "aws-iso", dnsSuffix: "c2s.ic.gov", beginning: "us-iso-"),
    Partition(name: "aws-iso-b", dnsSuffix: "sc2s.sgov.gov", beginning: "us-isob-"),
    Partition(name: "aws-iso-e", dnsSuffix: "cloud.adc-e.uk", beginning: "eu-isoe-"),
    Partition(name: "aws-iso-f", dnsSuffix: "csp.hci.ic.gov", beginning: "us-isof-"),
    Partition(name: "aws-eusc", dnsSuffix: "amazonaws.eu", beginning: "eusc-"),
  ]

  package static func of(region: String) -> Partition {
    others.first { region.hasPrefix($0.beginning) } ?? aws
  }

  /// China has none.
  var hasFIPS: Bool { name != "aws-cn" }

  /// Transfer Acceleration is there in the commercial regions only.
  var hasAcceleration: Bool { name == Self.aws.name }
}
