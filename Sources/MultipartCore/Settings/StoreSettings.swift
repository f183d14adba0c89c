import MultipartBasics

/// How to reach a store, and where each value came from: the caller's options, then AWS's variables, then the profile.
struct StoreSettings: Sendable {
  var question: EndpointQuestion
  var transfer: TransferSettings
  var payloadSigning: PayloadSigning
  /// Where each value came from, in the caller's words or as `AWS_REGION` or `profile dev`; defaults are not included.
  private(set) var sources: [Setting: String] = [:]
  private let profileName: String

  init(
    _ options: StoreOptions, _ environment: [String: String], _ profile: ProfileSettings, bucket: String
  ) throws(Failure) {
    profileName = "profile \(profile.choice.name)"
    transfer = TransferSettings(options)
    question = EndpointQuestion(bucket: bucket, region: options.region, blame: .configuration)
    payloadSigning = options.payloadSigning ?? .auto
    sources = options.origins.mapValues(\.name)

    var ignores = try AWSVariables.flag("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", environment)
    var url = ignores == true ? options.ownEndpoint : options.endpoint
    var s3 = ProfileS3()
    if try profile.isConsulted(for: options, endpointURL: url, ignoresURLs: ignores == true, signs: options.signs) {
      s3 = try profile.s3()
      if ignores == nil, s3.ignoresEndpointURLs == true {
        ignores = true
        url = options.ownEndpoint
      }
      if url == nil, ignores != true, let found = try profile.endpointURL() {
        url = found
        sources[.endpoint] = profileName
      }
      if question.region == nil, let region = try profile.value("region") {
        question.region = region
        sources[.region] = profileName
      }
    }
    question.endpointURL = url
    if url == nil { sources[.endpoint] = nil }
    question.endpointSource = sources[.endpoint]
    question.options = try endpointOptions(options, s3, environment)
    if options.isCallers(.region, options.region) || options.isCallers(.endpoint, options.endpoint) {
      question.blame = .usage
    }
    let typed =
      options.isCallers(.addressing, options.addressing) || options.isCallers(.accelerate, options.accelerate)
      || options.isCallers(.dualstack, options.dualstack) || options.isCallers(.fips, options.fips)
    question.options.blame = typed ? .usage : .configuration
    for name in transfer.fill(from: s3, unless: options.isSaid) { sources[name] = profileName }
    if s3.signsPayload == true, options.payloadSigning == nil {
      payloadSigning = .always
      sources[.payloadSigning] = profileName
    }
  }

  /// The region of the options, environment or profile.
  var region: String? { question.region }

  /// Where the bucket's requests go. If on AWS the region is set neither by options, environment or profile nor by the
  /// bucket's name, the machine and AWS are asked at the same time, because most machines have no metadata service,
  /// which only a timeout shows. The first answer is used; a wrong region is corrected by the store's first answer.
  mutating func endpoint(
    machine: @escaping @Sendable () async -> String?, transport: any Transport, world: World
  ) async throws(Failure) -> BucketEndpoint {
    let bucket = try EndpointResolver.resolve(question)
    if bucket.kind == .bucket { try BucketName.checkLength(bucket.bucket) }
    if bucket.isAWS, bucket.kind == .bucket, question.options.addressing != .path {
      try BucketName.checkForToday(bucket.bucket)
    }
    guard question.region == nil, bucket.isAWS else { return bucket }
    if question.regionOfName == bucket.region {
      sources[.region] = "the bucket's name"
      return bucket
    }
    let question = question
    let told = await withTaskGroup(of: (source: String, region: String?).self) { group in
      group.addTask { ("this machine", await machine()) }
      group.addTask {
        ("asked of the bucket", await BucketLocator.region(of: question, transport: transport, world: world))
      }
      for await answer in group where answer.region != nil {
        group.cancelAll()
        return answer as (source: String, region: String?)?
      }
      return nil
    }
    if let told {
      self.question.region = told.region
      sources[.region] = told.source
    }
    return try EndpointResolver.resolve(self.question)
  }

  /// A name to use where there is no bucket, because endpoints are found by a name.
  static let noBucket = "no-bucket"

  /// The endpoint of the service without a bucket; if the region is not set, only the machine can know it.
  mutating func serviceEndpoint(machine: () async -> String?) async throws(Failure) -> BucketEndpoint {
    question.options.addressing = .path
    question.options.accelerate = false
    let endpoint = try EndpointResolver.resolve(question)
    guard question.region == nil, endpoint.isAWS, let region = await machine() else { return endpoint }
    question.region = region
    sources[.region] = "this machine"
    return try EndpointResolver.resolve(question)
  }

  /// Where the endpoint came from: its URL, else what selected one of AWS's endpoints.
  func endpointSource(_ bucket: BucketEndpoint, named: Bool = true) -> String {
    let options = bucket.question.options
    if let source = sources[.endpoint] { return source }
    let variants = [
      (options.accelerate, Setting.accelerate), (options.dualstack, .dualstack), (options.fips, .fips),
    ].filter(\.0).map { "\($0.1.rawValue) by \(source($0.1))" }
    return (["AWS's " + (named ? bucket.kind.rawValue : "S3")] + variants).joined(separator: ", ")
  }

  func source(_ name: Setting) -> String { sources[name] ?? "default" }

  private mutating func endpointOptions(
    _ said: StoreOptions, _ s3: ProfileS3, _ environment: [String: String]
  ) throws(Failure) -> EndpointOptions {
    var options = EndpointOptions()
    options.accelerate = filled(.accelerate, said.accelerate, s3.accelerate)
    options.dualstack = filled(.dualstack, said.dualstack, s3.dualstack)
    options.fips = filled(.fips, said.fips, s3.fips)
    if let choice = said.addressing {
      options.addressing = choice
    } else if let style = s3.addressing {
      // The accelerate host always contains the bucket; AWS's tools then ignore the addressing style.
      options.addressing = options.accelerate ? .auto : style
      options.addressingIsWish = true
      sources[.addressing] = profileName
    }
    let usesARN = try AWSVariables.flag("AWS_S3_USE_ARN_REGION", environment)
    options.usesARNRegion = usesARN ?? s3.usesARNRegion ?? true
    let legacy = try AWSVariables.value(
      "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT", environment, "regional or legacy", ProfileS3.legacy)
    options.usesGlobalEndpoint = legacy ?? s3.usesGlobalEndpoint ?? false
    return options
  }

  private mutating func filled(_ name: Setting, _ said: Bool?, _ profile: Bool?) -> Bool {
    if said == nil, profile == true { sources[name] = profileName }
    return said ?? profile ?? false
  }
}

extension StoreOptions {
  /// The caller's endpoint. With `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` one from AWS's variables is ignored too.
  fileprivate var ownEndpoint: String? {
    if let origin = origins[.endpoint], origin.isEnvironment, origin.name.begins(with: "AWS_") { return nil }
    return endpoint
  }

  fileprivate var signs: Bool {
    if case .unsigned = credentials { false } else { true }
  }

  /// Whether the caller set it, rather than a variable.
  fileprivate func isCallers<Value>(_ setting: Setting, _ value: Value?) -> Bool {
    value != nil && origins[setting]?.isEnvironment != true
  }
}
