import MultipartBasics

/// Finds where a bucket's requests go, by AWS's endpoint rules. It refuses doubtful cases, because the data would be
/// sent to a plausible but wrong address.
///
/// | bucket | host on AWS | signed for |
/// | --- | --- | --- |
/// | a name, an alias (`-s3alias`, `--ol-s3`) | `name.s3[-fips][.dualstack].REGION.SUFFIX`, or without `name.` | s3 |
/// | the same, accelerated | `name.s3-accelerate[.dualstack].SUFFIX` | s3 |
/// | access point ARN | `name-account.s3-accesspoint[-fips][.dualstack].REGION.SUFFIX` | s3, the ARN's region |
/// | Object Lambda ARN | `name-account.s3-object-lambda[-fips].REGION.SUFFIX` | s3-object-lambda |
/// | Outposts ARN | `name-account.outpost.s3-outposts.REGION.SUFFIX` | s3-outposts |
/// | Outposts alias (`--op-s3`) | `alias.op-outpost.s3-outposts.…` or `alias.ec2.s3-outposts.…` | s3-outposts |
/// | directory bucket (`--x-s3`, `--xa-s3`) | `name.s3express[-fips]-zone[.dualstack].REGION.SUFFIX` | s3express |
/// | multi-region access point ARN | none: its signature is SigV4A | |
enum EndpointResolver {
  static let defaultRegion = "us-east-1"

  static func resolve(
    bucket: String, region: String? = nil, endpointURL: String? = nil, addressing: Addressing = .auto,
    blame: Failure.Code = .usage
  ) throws(Failure) -> BucketEndpoint {
    try resolve(
      EndpointQuestion(
        bucket: bucket, region: region, endpointURL: endpointURL, options: EndpointOptions(addressing: addressing),
        blame: blame))
  }

  static func resolve(_ asked: EndpointQuestion) throws(Failure) -> BucketEndpoint {
    var question = asked
    var url: EndpointURL?
    if let text = question.endpointURL {
      let parsed = try EndpointURL.parse(text, blame: question.blame, from: question.endpointSource)
      // The Transfer Acceleration endpoint is not a store of its own, but AWS's documentation gives it as an endpoint URL.
      if let dualstack = accelerated[parsed.host] {
        question.endpointURL = nil
        question.options.accelerate = true
        question.options.dualstack = question.options.dualstack || dualstack
      } else {
        url = parsed
      }
    }
    let place = Placement(question: question, url: url)
    try place.checkRegion()
    try place.checkOptions()
    try place.checkDoubled()
    let bucket = question.bucket
    if bucket.begins(with: "arn:") { return try place.named(byARN: bucket) }
    if ZonalName.fits(bucket) { return try place.directory() }
    if bucket.ends(with: "--op-s3") { return try place.outpostsAlias() }
    try url == nil ? BucketName.checkForAWS(bucket) : BucketName.check(bucket)
    return try place.plain()
  }

  private static let accelerated = [
    "s3-accelerate.amazonaws.com": false, "s3-accelerate.dualstack.amazonaws.com": true,
  ]
}

/// A question whose URL is parsed; each kind of bucket resolves it by its own rules.
struct Placement {
  let question: EndpointQuestion
  /// Nil on AWS.
  let url: EndpointURL?

  var options: EndpointOptions { question.options }
  var bucket: String { question.bucket }
  var region: String { question.region ?? EndpointResolver.defaultRegion }
  var partition: Partition { Partition.of(region: region) }
  /// AWS's name for the one region that is not part of its host.
  var isGlobal: Bool { region == "aws-global" }
  var signingRegion: String { isGlobal ? EndpointResolver.defaultRegion : region }

  func checkRegion() throws(Failure) {
    guard url == nil else {
      // Other stores may use capitals, as in RegionOne.
      guard BucketName.isRegion(region) else {
        throw Failure(
          question.blame, "\"\(SafeText.oneLine(region))\" cannot be the name of a region",
          remedy: "regions have letters, digits, dots, hyphens and underscores, as eu-west-1 or RegionOne")
      }
      return
    }
    guard BucketName.isLabel(region) else {
      throw Failure(
        question.blame, "\"\(SafeText.oneLine(region))\" is not the name of a region of AWS",
        remedy: "regions look like eu-west-1; give \(.endpoint) for another store")
    }
    if region.begins(with: "fips-") || region.ends(with: "-fips") {
      let real = region.begins(with: "fips-") ? String(region.dropFirst(5)) : String(region.dropLast(5))
      throw Failure(
        question.blame, "\"\(region)\" is not a region, but an old way to ask for FIPS",
        remedy: "give \(.region, real) \(.fips)")
    }
    if region.begins(with: "aws-"), !isGlobal {
      throw Failure(question.blame, "S3 has no region \"\(region)\"", remedy: "give \(.region) the bucket's own region")
    }
  }

  /// Refuses combinations that AWS does not offer for any bucket.
  func checkOptions() throws(Failure) {
    if options.accelerate, options.fips {
      throw refusal("S3 Transfer Acceleration has no FIPS endpoints", "leave one of \(.accelerate) and \(.fips) out")
    }
    if url != nil {
      let variants: [(isOn: Bool, setting: Setting)] = [
        (options.dualstack, .dualstack), (options.fips, .fips), (options.accelerate, .accelerate),
      ]
      for (isOn, setting) in variants where isOn {
        throw refusal(
          "\(setting) chooses among AWS's endpoints and cannot be combined with an endpoint URL",
          "leave \(.endpoint) out, or say \(off: setting)")
      }
    }
    if options.fips, !partition.hasFIPS {
      throw refusal(
        "the regions of \(partition.name) have no FIPS endpoints", "leave \(.fips) out, or say \(off: .fips)")
    }
  }

  func refusal(_ message: Wording, _ remedy: Wording) -> Failure { Failure(options.blame, message, remedy: remedy) }

  func endpoint(
    _ kind: BucketEndpoint.Kind, host: String, usesPath: Bool = false, region: String? = nil, signingName: String
  ) -> BucketEndpoint {
    BucketEndpoint(
      question: question, kind: kind, origin: Origin(scheme: .https, host: host), basePath: "", usesPath: usesPath,
      region: region ?? signingRegion, signingName: signingName, isAWS: true)
  }

  /// The endpoint at the given URL; `label` is put in front of its host.
  func endpoint(
    _ kind: BucketEndpoint.Kind, at url: EndpointURL, label: String?, region: String? = nil, signingName: String
  ) -> BucketEndpoint {
    let host = (label.map { $0 + "." } ?? "") + url.authority
    return BucketEndpoint(
      question: question, kind: kind, origin: Origin(scheme: url.scheme, host: host), basePath: url.path,
      usesPath: label == nil, region: region ?? signingRegion, signingName: signingName, isAWS: false)
  }
}

// MARK: - Buckets by name
extension Placement {
  func plain() throws(Failure) -> BucketEndpoint {
    let usesPath = try usesPath()
    if let url {
      return endpoint(.bucket, at: url, label: usesPath ? nil : bucket, region: region(in: url), signingName: "s3")
    }
    let label = usesPath ? "" : bucket + "."
    if options.accelerate {
      try checkAcceleration(usesPath: usesPath)
      let stack = options.dualstack ? ".dualstack" : ""
      return endpoint(.bucket, host: "\(label)s3-accelerate\(stack).\(partition.dnsSuffix)", signingName: "s3")
    }
    return endpoint(.bucket, host: label + host("s3"), usesPath: usesPath, signingName: "s3")
  }

  /// The region in one of AWS's own hosts, which takes no signature for another region, whatever a profile says.
  private func region(in url: EndpointURL) -> String? {
    Partition.all(ofHost: url.host).lazy.filter { url.host != "s3." + $0.dnsSuffix }
      .compactMap { S3Host(url.host, bucket: bucket, partition: $0)?.region }.first
  }

  /// The host, such as `s3-fips.dualstack.eu-west-1.amazonaws.com`.
  private func host(_ service: String) -> String {
    let oldest = isGlobal || (options.usesGlobalEndpoint && region == EndpointResolver.defaultRegion)
    if oldest, !options.fips, !options.dualstack { return "\(service).\(partition.dnsSuffix)" }
    return service + variant + ".\(signingRegion).\(partition.dnsSuffix)"
  }

  var variant: String { (options.fips ? "-fips" : "") + (options.dualstack ? ".dualstack" : "") }

  private func checkAcceleration(usesPath: Bool) throws(Failure) {
    guard partition.hasAcceleration else {
      throw refusal(
        "the regions of \(partition.name) have no S3 Transfer Acceleration",
        "leave \(.accelerate) out, or say \(off: .accelerate)")
    }
    guard usesPath else { return }
    throw options.addressing == .path
      ? refusal(
        "S3 Transfer Acceleration has the bucket in the host, never in the path",
        "leave one of \(.accelerate) and \(.addressing, "path") out")
      : refusal(
        "S3 Transfer Acceleration needs a bucket whose name fits into a host name, without dots: not \"\(bucket)\"",
        "leave \(.accelerate) out, or say \(off: .accelerate)")
  }

  private func usesPath() throws(Failure) -> Bool {
    let fits = BucketName.fitsHost(bucket)
    // AWS's certificate covers one label: `*.s3.eu-west-1.amazonaws.com` does not match `a.b.s3…`.
    let fitsAWS = fits && !bucket.utf8.contains(UInt8(ascii: "."))
    switch options.addressing {
    case .path: return true
    case .auto: return url != nil || !fitsAWS
    case .virtual where options.addressingIsWish:
      return url.map { !fits || $0.isAddress || ($0.scheme == .https && !fitsAWS) } ?? !fitsAWS
    case .virtual:
      guard fits else {
        throw Failure(
          .usage,
          "the bucket \"\(SafeText.oneLine(bucket))\" cannot be part of a host name, as \(.addressing, "virtual") requests",
          remedy: "use \(.addressing, "path")")
      }
      guard url?.isAddress != true else {
        throw Failure(
          .usage, "a bucket cannot be put in front of an address, as \(.addressing, "virtual") requests",
          remedy: "use \(.addressing, "path"), or the name of the host")
      }
      guard url != nil || fitsAWS else {
        throw Failure(
          .usage,
          "AWS's certificates do not cover a bucket with dots in the host, as \(.addressing, "virtual") requests",
          remedy: "use \(.addressing, "path"), or leave it out")
      }
      return false
    }
  }
}
