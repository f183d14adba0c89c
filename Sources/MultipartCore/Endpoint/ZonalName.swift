import MultipartBasics

/// The name of a directory bucket of S3 Express One Zone, `base--usw2-az1--x-s3`, or of its access point, which ends in
/// `--xa-s3`; the availability zone in it is part of the host.
struct ZonalName: Sendable, Equatable {
  let zone: String
  /// The zone's region, if its name follows AWS's pattern.
  let region: String?

  static func fits(_ name: String) -> Bool { suffix(of: name) != nil }

  private static func suffix(of name: String) -> String? {
    ["--x-s3", "--xa-s3"].first { name.ends(with: $0) }
  }

  init?(_ name: String) {
    guard let suffix = Self.suffix(of: name), BucketName.isLabel(name), name.utf8.count >= 3 else { return nil }
    let front = Array(name.utf8.dropLast(suffix.utf8.count))
    let dash = UInt8(ascii: "-")
    guard let cut = front.indices.dropLast().last(where: { front[$0] == dash && front[$0 + 1] == dash }), cut > 0 else {
      return nil
    }
    let zone = String(decoding: front[(cut + 2)...], as: UTF8.self)
    guard BucketName.isLabel(zone), zone.holds("-") else { return nil }
    self.zone = zone
    region = Self.region(of: zone)
  }

  /// The region of a zone: `usw2-az1` is in `us-west-2`, `apne1-az4` in `ap-northeast-1`, `usgw1-az1` in
  /// `us-gov-west-1`; local zones (`usw2-lax1-az1`) begin with their region too.
  static func region(of zone: String) -> String? {
    var rest = zone.upTo("-")
    guard let number = rest.popLast(), number.isASCII, number.isNumber else { return nil }
    let areas = [
      "usg": "us-gov", "us": "us", "eu": "eu", "ap": "ap", "sa": "sa", "ca": "ca", "me": "me", "af": "af", "il": "il",
      "mx": "mx", "cn": "cn",
    ]
    let sides = [
      "n": "north", "s": "south", "e": "east", "w": "west", "c": "central", "ne": "northeast", "se": "southeast",
      "nw": "northwest", "sw": "southwest",
    ]
    for length in [3, 2] where rest.count > length {
      if let area = areas[String(rest.prefix(length))], let side = sides[String(rest.dropFirst(length))] {
        return "\(area)-\(side)-\(number)"
      }
    }
    return nil
  }
}
