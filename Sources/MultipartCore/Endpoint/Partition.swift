/// The parts of AWS that have a domain of their own, told apart by how their regions begin.
enum Partition {
  /// The longer beginning comes first: `us-isob` is not `us-iso`.
  private static let suffixes = [
    ("cn-", "amazonaws.com.cn"),
    ("us-iso-", "c2s.ic.gov"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("us-isof-", "csp.hci.ic.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
    ("eusc-", "amazonaws.eu"),
  ]

  /// What stands behind `s3.<region>.`
  static func dnsSuffix(region: String) -> String {
    suffixes.first { region.hasPrefix($0.0) }?.1 ?? "amazonaws.com"
  }
}
