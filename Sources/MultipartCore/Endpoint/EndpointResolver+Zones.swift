import MultipartBasics

/// Buckets whose names contain their location: directory buckets, and aliases on Outposts.
extension Placement {
  /// The endpoint of a directory bucket (S3 Express One Zone), which is always in the host, except with an IP address.
  func directory() throws(Failure) -> BucketEndpoint {
    if options.accelerate {
      throw refusal(
        "directory buckets have no S3 Transfer Acceleration", "leave \(.accelerate) out, or say \(off: .accelerate)")
    }
    guard BucketName.isLabel(bucket) else {
      throw Failure(
        .usage, "\"\(SafeText.oneLine(bucket))\" cannot be the name of a directory bucket",
        remedy: "such names have lower-case letters, digits and hyphens: base--zone--x-s3")
    }
    guard let name = ZonalName(bucket) else {
      throw Failure(
        .usage, "\"\(bucket)\" names no availability zone, as a directory bucket must",
        remedy: "such names look like base--usw2-az1--x-s3")
    }
    if let url {
      let inPath = url.isAddress || options.addressing == .path
      return endpoint(.directory, at: url, label: inPath ? nil : bucket, signingName: "s3express")
    }
    // Without a given region, the zone determines it.
    let region = question.region == nil ? name.region ?? region : signingRegion
    if let home = name.region, home != region {
      throw Failure(
        question.blame, "the zone \(name.zone) of the directory bucket is in \(home), not in \(region)",
        remedy: "give \(.region, home), or leave the region out")
    }
    let suffix = Partition.of(region: region).dnsSuffix
    let service =
      "s3express" + (options.fips ? "-fips" : "") + "-" + name.zone + (options.dualstack ? ".dualstack" : "")
    return endpoint(
      .directory, host: "\(bucket).\(service).\(region).\(suffix)", region: region, signingName: "s3express")
  }

  /// The endpoint of an alias such as `name-o01ac5d28a6a232904…--op-s3`: counted from the end, letter 50 is the kind of
  /// hardware, and the 17 letters before letter 32 are the outpost's id.
  func outpostsAlias() throws(Failure) -> BucketEndpoint {
    let bytes = Array(bucket.utf8)
    guard BucketName.isLabel(bucket), bytes.count >= 51 else {
      throw Failure(
        .usage, "\"\(SafeText.oneLine(bucket))\" is not an alias of an access point on Outposts",
        remedy: "give the complete alias, or the access point's ARN")
    }
    func letters(_ range: Range<Int>) -> String {
      String(decoding: bytes[(bytes.count - range.upperBound)..<(bytes.count - range.lowerBound)], as: UTF8.self)
    }
    let outpost = letters(32..<49)
    let hardware: String
    switch letters(49..<50) {
    case "o": hardware = "op-" + outpost
    case "e": hardware = "ec2"
    default:
      throw Failure(
        .usage, "the alias \"\(bucket)\" is of a kind of Outposts hardware that is not known",
        remedy: "give the access point's ARN")
    }
    try refuseVariants("S3 on Outposts", fips: true)
    if letters(8..<12) == "beta" {
      guard let url else {
        throw Failure(
          .usage, "the alias \"\(bucket)\" needs an endpoint URL",
          remedy: "give \(.endpoint) URL, the address of the Outpost")
      }
      return endpoint(.outposts, host: "\(bucket).\(hardware).\(url.authority)", signingName: "s3-outposts")
    }
    guard url == nil else {
      throw Failure(
        question.blame, "an alias on Outposts contains its own address and cannot be combined with an endpoint URL",
        remedy: "leave \(.endpoint) out")
    }
    return endpoint(
      .outposts, host: "\(bucket).\(hardware).s3-outposts.\(region).\(partition.dnsSuffix)",
      signingName: "s3-outposts")
  }

  /// Refuses options that the service does not support.
  func refuseVariants(_ service: String, fips: Bool = false) throws(Failure) {
    let variants: [(isOn: Bool, setting: Setting, what: String)] = [
      (options.dualstack, .dualstack, "dual-stack endpoints"), (fips && options.fips, .fips, "FIPS endpoints"),
      (options.accelerate, .accelerate, "Transfer Acceleration"),
    ]
    for (isOn, setting, what) in variants where isOn {
      throw refusal("\(service) has no \(what)", "leave \(setting) out, or say \(off: setting)")
    }
  }
}
