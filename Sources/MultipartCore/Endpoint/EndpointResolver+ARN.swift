import MultipartBasics

/// Buckets named by an ARN: access points of buckets, of Object Lambda and on Outposts.
extension Placement {
  func named(byARN text: String) throws(Failure) -> BucketEndpoint {
    guard text.utf8.count <= 2048, let arn = ARN(text) else {
      throw wrong("is not an ARN", "an access point's looks like arn:aws:s3:eu-west-1:123456789012:accesspoint/NAME")
    }
    guard options.addressing != .path || options.addressingIsWish else {
      throw refusal(
        "an ARN is never part of the path, as \(.addressing, "path") requests", "leave \(.addressing, "path") out")
    }
    switch (arn.service, arn.resource[0]) {
    case ("s3-object-lambda", "accesspoint"): return try objectLambda(arn)
    case ("s3", "accesspoint"): return try accessPoint(arn)
    case ("s3-outposts", "outpost"): return try outposts(arn)
    case ("s3", _) where arn.resource.count == 1 && arn.region.isEmpty && arn.account.isEmpty:
      throw wrong("names a bucket by its ARN", "give the name alone: s3://\(SafeText.oneLine(arn.resource[0]))/KEY")
    case ("s3express", _):
      throw wrong("is an ARN of S3 Express", "give the directory bucket's name, which ends in --x-s3")
    case ("s3", _), ("s3-object-lambda", _), ("s3-outposts", _):
      throw wrong("names no access point", "give the bucket's name, or an access point's ARN")
    default: throw wrong("is not an ARN of S3", "give the bucket's name, or an access point's ARN")
    }
  }

  private func accessPoint(_ arn: ARN) throws(Failure) -> BucketEndpoint {
    let name = try single(arn)
    guard !arn.region.isEmpty else {
      throw wrong(
        "is a multi-region access point, whose requests must be signed with SigV4A, which is not supported",
        "give the bucket, or an access point, of one region")
    }
    let label = try label(name, arn)
    if options.accelerate {
      throw refusal(
        "access points have no S3 Transfer Acceleration", "leave \(.accelerate) out, or say \(off: .accelerate)")
    }
    if let url {
      return endpoint(.accessPoint, at: url, label: try front(label, url), region: arn.region, signingName: "s3")
    }
    return endpoint(
      .accessPoint, host: "\(label).s3-accesspoint\(variant).\(arn.region).\(suffix(arn))", region: arn.region,
      signingName: "s3")
  }

  private func objectLambda(_ arn: ARN) throws(Failure) -> BucketEndpoint {
    let name = try single(arn)
    try refuseVariants("S3 Object Lambda")
    guard !arn.region.isEmpty else { throw wrong("names no region", "give the complete ARN") }
    let label = try label(name, arn)
    let service = "s3-object-lambda"
    if let url {
      return endpoint(.objectLambda, at: url, label: try front(label, url), region: arn.region, signingName: service)
    }
    return endpoint(
      .objectLambda, host: "\(label).\(service)\(options.fips ? "-fips" : "").\(arn.region).\(suffix(arn))",
      region: arn.region, signingName: service)
  }

  /// An access point on Outposts: `outpost/ID/accesspoint/NAME`.
  private func outposts(_ arn: ARN) throws(Failure) -> BucketEndpoint {
    try refuseVariants("S3 on Outposts", fips: true)
    guard arn.resource.count == 4, arn.resource[2] == "accesspoint" else {
      throw wrong("names no access point on Outposts", "it ends with outpost/ID/accesspoint/NAME")
    }
    let outpost = arn.resource[1]
    guard BucketName.isLabel(outpost) else { throw wrong("has no valid outpost id", "give the complete ARN") }
    guard !arn.region.isEmpty else { throw wrong("names no region", "give the complete ARN") }
    let label = try label(arn.resource[3], arn) + "." + outpost
    // AWS's rule drops the scheme and the path of the URL.
    let host = try url.map { (url) throws(Failure) in try front(label, url) + "." + url.authority }
    return endpoint(
      .outposts, host: host ?? "\(label).s3-outposts.\(arn.region).\(suffix(arn))", region: arn.region,
      signingName: "s3-outposts")
  }

  /// The name after `accesspoint`.
  private func single(_ arn: ARN) throws(Failure) -> String {
    guard arn.resource.count > 1, !arn.resource[1].isEmpty else {
      throw wrong("names no access point", "it ends with accesspoint/NAME")
    }
    guard arn.resource.count == 2 else {
      throw wrong(
        "has more after the access point's name", "write s3://ARN/KEY, where the ARN ends with accesspoint/NAME")
    }
    return arn.resource[1]
  }

  /// The label `name-account`, after checking the ARN against the options.
  private func label(_ name: String, _ arn: ARN) throws(Failure) -> String {
    guard BucketName.isLabel(arn.region) else { throw wrong("has no valid region", "give the complete ARN") }
    let own = Partition.of(region: arn.region)
    guard own.name == arn.partition else {
      throw wrong(
        "names the partition \(SafeText.oneLine(arn.partition)), but its region is in \(own.name)", "check the ARN")
    }
    if let given = question.region {
      guard partition.name == own.name else {
        throw Failure(
          question.blame, "the ARN is in the partition \(own.name), the region \(given) in \(partition.name)",
          remedy: "give \(.region, arn.region)")
      }
      // AWS compares the names here: aws-global is not treated as us-east-1.
      guard options.usesARNRegion || given.utf8.elementsEqual(arn.region.utf8) else {
        throw Failure(
          question.blame, "the ARN is in \(arn.region), the region is \(given), and the ARN's region must not be used",
          remedy: "give \(.region, arn.region), or set AWS_S3_USE_ARN_REGION=true")
      }
    }
    if options.fips, !own.hasFIPS {
      throw refusal("the regions of \(own.name) have no FIPS endpoints", "leave \(.fips) out, or say \(off: .fips)")
    }
    guard BucketName.isLabel(arn.account) else { throw wrong("has no valid account id", "give the complete ARN") }
    let label = "\(name)-\(arn.account)"
    guard BucketName.isLabel(name), BucketName.isLabel(label) else {
      throw wrong("has an access point's name that does not fit into a host name", "check the ARN")
    }
    return label
  }

  private func front(_ label: String, _ url: EndpointURL) throws(Failure) -> String {
    guard !url.isAddress else {
      throw Failure(
        question.blame, "an access point cannot be put in front of an address",
        remedy: "give \(.endpoint) the name of a host")
    }
    return label
  }

  private func suffix(_ arn: ARN) -> String { Partition.of(region: arn.region).dnsSuffix }

  private func wrong(_ what: String, _ remedy: Wording) -> Failure {
    Failure(.usage, "\"\(SafeText.oneLine(bucket))\" \(what)", remedy: remedy)
  }
}
