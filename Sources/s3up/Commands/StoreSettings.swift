import MultipartCore

/// How the way to a store was said: the option, S3UP_ and AWS variables, then the profile. Each value with where it came
/// from, for who asks why.
struct StoreSettings {
  var question: EndpointQuestion
  var transfer: TransferOptions
  var payloadSigning: PayloadSigning
  /// `--region`, `AWS_REGION`, `profile dev`; what is not in it is as it is by default.
  private(set) var sources: [FlagName: String] = [:]
  private let profileName: String

  init(
    _ invocation: Invocation, _ environment: [String: String], _ profile: ProfileSettings, bucket: String
  ) throws(Failure) {
    let connection = try ConnectionOptions(invocation)
    profileName = "profile \(profile.choice.name)"
    transfer = try TransferOptions(invocation)
    question = EndpointQuestion(bucket: bucket, region: connection.region, blame: .configuration)
    payloadSigning = PayloadSigning(rawValue: try IntegrityOptions(invocation).payloadSigning.rawValue) ?? .auto
    for name in [
      FlagName.endpointURL, .region, .addressing, .accelerate, .dualstack, .fips, .concurrency, .partSize, .limitRate,
      .payloadSigning,
    ] { sources[name] = invocation.last(name)?.origin.text }

    var ignores = try Self.setting("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", environment, "true or false") {
      $0 == "1" ? true : ProfileS3.flag($0)
    }
    var url = ignores == true ? Self.own(connection, invocation) : connection.endpointURL
    let signs = try !CredentialOptions(invocation).noSignRequest
    var s3 = ProfileS3()
    if profile.isConsulted(for: connection, endpointURL: url, ignoresURLs: ignores == true, signs: signs) {
      s3 = try profile.s3()
      if ignores == nil, s3.ignoresEndpointURLs == true {
        ignores = true
        url = Self.own(connection, invocation)
      }
      if url == nil, ignores != true, let found = try profile.endpointURL() {
        url = found
        sources[.endpointURL] = profileName
      }
      if question.region == nil, let region = try profile.value("region") {
        question.region = region
        sources[.region] = profileName
      }
    }
    question.endpointURL = url
    if url == nil { sources[.endpointURL] = nil }
    question.options = try options(connection, s3, environment)
    for name in [FlagName.region, .endpointURL] where Self.wasTyped(name, invocation) { question.blame = .usage }
    let typed = [FlagName.addressing, .accelerate, .dualstack, .fips].contains { Self.wasTyped($0, invocation) }
    question.options.blame = typed ? .usage : .configuration
    for name in transfer.fill(from: s3, invocation) { sources[name] = profileName }
    if s3.signsPayload == true, !invocation.has(.payloadSigning) {
      payloadSigning = .always
      sources[.payloadSigning] = profileName
    }
  }

  /// What options, environment or profile say.
  var region: String? { question.region }

  /// Where the bucket's requests go. Nobody is asked where options, environment, profile or the bucket's name tell the
  /// region of a bucket on AWS; else the machine and AWS itself, at the same time, because most machines do not answer
  /// and are waited for: who tells first is believed, and a region that is wrong is mended by the first answer.
  mutating func endpoint(
    machine: @escaping @Sendable () async -> String?, transport: any Transport, world: World
  ) async throws(Failure) -> BucketEndpoint {
    let bucket = try EndpointResolver.resolve(question)
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

  /// Of the service, whatever the bucket; nobody but the machine can tell a region then.
  mutating func serviceEndpoint(machine: () async -> String?) async throws(Failure) -> BucketEndpoint {
    question.options.addressing = .path
    question.options.accelerate = false
    let endpoint = try EndpointResolver.resolve(question)
    guard question.region == nil, endpoint.isAWS, let region = await machine() else { return endpoint }
    question.region = region
    sources[.region] = "this machine"
    return try EndpointResolver.resolve(question)
  }

  /// The URL's, else what chose among AWS's.
  func endpointSource(_ bucket: BucketEndpoint, named: Bool = true) -> String {
    let options = bucket.question.options
    if let source = sources[.endpointURL] { return source }
    let variants = [
      (options.accelerate, FlagName.accelerate), (options.dualstack, .dualstack), (options.fips, .fips),
    ].filter(\.0).map { "\($0.1.rawValue) by \(source($0.1))" }
    return (["AWS's " + (named ? bucket.kind.rawValue : "S3")] + variants).joined(separator: ", ")
  }

  func source(_ name: FlagName) -> String { sources[name] ?? "default" }

  private mutating func options(
    _ connection: ConnectionOptions, _ s3: ProfileS3, _ environment: [String: String]
  ) throws(Failure) -> EndpointOptions {
    var options = EndpointOptions()
    options.accelerate = filled(.accelerate, connection.accelerate, s3.accelerate)
    options.dualstack = filled(.dualstack, connection.dualstack, s3.dualstack)
    options.fips = filled(.fips, connection.fips, s3.fips)
    if let choice = connection.addressing {
      options.addressing = Addressing(rawValue: choice.rawValue) ?? .auto
    } else if let style = s3.addressing {
      // Acceleration is in the host always; to AWS's tools the style is then none.
      options.addressing = options.accelerate ? .auto : style
      options.addressingIsWish = true
      sources[.addressing] = profileName
    }
    let usesARN = try Self.setting("AWS_S3_USE_ARN_REGION", environment, "true or false", ProfileS3.flag)
    options.usesARNRegion = usesARN ?? s3.usesARNRegion ?? true
    let legacy = try Self.setting(
      "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT", environment, "regional or legacy", ProfileS3.legacy)
    options.usesGlobalEndpoint = legacy ?? s3.usesGlobalEndpoint ?? false
    return options
  }

  private mutating func filled(_ name: FlagName, _ option: Bool?, _ profile: Bool?) -> Bool {
    if option == nil, profile == true { sources[name] = profileName }
    return option ?? profile ?? false
  }

  /// What `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` leaves: the AWS variables are configuration too.
  private static func own(_ connection: ConnectionOptions, _ invocation: Invocation) -> String? {
    if case .environment(let name)? = invocation.last(.endpointURL)?.origin, name.hasPrefix("AWS_") { return nil }
    return connection.endpointURL
  }

  private static func wasTyped(_ name: FlagName, _ invocation: Invocation) -> Bool {
    if case .commandLine? = invocation.last(name)?.origin { return true }
    return false
  }

  /// A variable of AWS's that stands for no option.
  private static func setting<Value>(
    _ name: String, _ environment: [String: String], _ form: String, _ parse: (String) -> Value?
  ) throws(Failure) -> Value? {
    guard let text = environment[name], !text.isEmpty else { return nil }
    if let value = parse(text) { return value }
    throw Failure(
      .configuration, "\(name) is \"\(SafeText.oneLine(text))\", not \(form)", remedy: "set it to \(form), or unset it")
  }
}
