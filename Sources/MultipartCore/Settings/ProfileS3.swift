import MultipartBasics

/// The S3 settings of a profile in AWS's spelling: its `s3 =` block, and related settings outside of it.
struct ProfileS3: Sendable, Equatable {
  var accelerate: Bool?
  var dualstack: Bool?
  var fips: Bool?
  var addressing: Addressing?
  var signsPayload: Bool?
  var concurrency: Int?
  /// Files of at least this size are sent in parts.
  var threshold: Int64?
  /// The preferred part size: as in AWS's tools, a different size is used where S3 does not allow it or there would be
  /// too many parts.
  var chunkSize: Int64?
  /// In bytes per second.
  var rate: Int64?
  /// How often one request is tried.
  var tries: Int?
  /// The file of certificates to trust.
  var caBundle: String?
  var usesARNRegion: Bool?
  var usesGlobalEndpoint: Bool?
  var ignoresEndpointURLs: Bool?

  init() {}

  init(_ profile: Profile, in config: SharedConfig) throws(Failure) {
    let reader = Reader(profile: profile, config: config)
    accelerate = try reader.flag("use_accelerate_endpoint", inBlock: true)
    dualstack = try reader.flag("use_dualstack_endpoint", inBlock: true)
    if dualstack == nil { dualstack = try reader.flag("use_dualstack_endpoint") }
    fips = try reader.flag("use_fips_endpoint")
    addressing = try reader.read("addressing_style", "one of auto, virtual and path") {
      Addressing(rawValue: $0.lowercased())
    }
    signsPayload = try reader.flag("payload_signing_enabled", inBlock: true)
    concurrency = try reader.read("max_concurrent_requests", "a number from 1 to 1000") {
      Int($0, in: StoreOptions.connectionCounts)
    }
    threshold = try reader.read("multipart_threshold", "a size such as 64MB", Self.size)
    chunkSize = try reader.read("multipart_chunksize", "a size such as 16MB", Self.size)
    rate = try reader.read("max_bandwidth", "a rate such as 50MB/s or 100Mb/s", Self.rate)
    tries = try reader.read("max_attempts", "a number from 1 to 1000", inBlock: false) {
      Int($0, in: StoreOptions.tryCounts)
    }
    caBundle = profile["ca_bundle"]
    usesARNRegion = try reader.flag("s3_use_arn_region")
    if usesARNRegion == nil { usesARNRegion = try reader.flag("use_arn_region", inBlock: true) }
    usesGlobalEndpoint = try reader.read(
      "s3_us_east_1_regional_endpoint", "regional or legacy", inBlock: false, Self.legacy)
    if usesGlobalEndpoint == nil {
      usesGlobalEndpoint = try reader.read("us_east_1_regional_endpoint", "regional or legacy", Self.legacy)
    }
    ignoresEndpointURLs = try reader.flag("ignore_configured_endpoint_urls")
  }

  static func legacy(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "legacy": true
    case "regional": false
    default: nil
    }
  }

  static func size(_ text: String) -> Int64? {
    SizeValue.parse(text).flatMap { $0 > 0 ? $0 : nil }
  }

  /// Parses a rate: `50MB/s` and a bare number are in bytes, `100Mb/s` is in bits.
  static func rate(_ text: String) -> Int64? {
    if text.ends(with: "b/s") { return size(String(text.dropLast(3))).flatMap { $0 >= 8 ? $0 / 8 : nil } }
    return size(text.ends(with: "B/s") ? String(text.dropLast(2)) : text)
  }

  private struct Reader {
    let profile: Profile
    let config: SharedConfig

    func flag(_ name: String, inBlock: Bool = false) throws(Failure) -> Bool? {
      try read(name, AWSVariables.flagForm, inBlock: inBlock, Bool.init(word:))
    }

    /// Reads a setting; an empty value is treated as missing.
    func read<Value>(
      _ name: String, _ form: String, inBlock: Bool = true, _ parse: (String) -> Value?
    ) throws(Failure) -> Value? {
      let text = inBlock ? profile.block("s3")[name] : profile[name]
      guard let text, !text.isEmpty else { return nil }
      if let value = parse(text) { return value }
      let ofCredentials = profile.credentials.map { inBlock ? $0.nested["s3"]?[name] != nil : $0[name] != nil } ?? false
      let file = ofCredentials ? config.credentialsPath : config.configPath
      let setting = (inBlock ? "s3." : "") + name
      throw Failure(
        .configuration,
        "\(file): \(setting) of the profile \(profile.name) is \"\(SafeText.oneLine(text))\", not \(form)",
        remedy: "fix \(setting) in \(file)"
      ).at(Place(file: file))
    }
  }
}
