/// How the way to a store was said: the option, S3UP_ and AWS variables, then the profile. Each value with where it came
/// from, for who asks why.
package struct StoreSettings: Sendable {
  package var question: EndpointQuestion
  package var transfer: TransferSettings
  package var payloadSigning: PayloadSigning
  /// `--region`, `AWS_REGION`, `profile dev`; what is not in it is as it is by default.
  package private(set) var sources: [Setting: String] = [:]
  private let profileName: String

  package init(
    _ options: StoreOptions, _ environment: [String: String], _ profile: ProfileSettings, bucket: String
  ) throws(Failure) {
    profileName = "profile \(profile.choice.name)"
    transfer = TransferSettings(options)
    question = EndpointQuestion(bucket: bucket, region: options.region, blame: .configuration)
    payloadSigning = options.payloadSigning ?? .auto
    sources = options.origins.mapValues(\.name)

    var ignores = try AWSVariables.value("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", environment, "true or false") {
      $0 == "1" ? true : ProfileS3.flag($0)
    }
    var url = ignores == true ? options.ownEndpoint : options.endpoint
    var s3 = ProfileS3()
    if profile.isConsulted(for: options, endpointURL: url, ignoresURLs: ignores == true, signs: options.signs) {
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

  /// What options, environment or profile say.
  package var region: String? { question.region }

  /// Where the bucket's requests go. Nobody is asked where options, environment, profile or the bucket's name tell the
  /// region of a bucket on AWS; else the machine and AWS itself, at the same time, because most machines do not answer
  /// and are waited for: who tells first is believed, and a region that is wrong is mended by the first answer.
  package mutating func endpoint(
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
  package mutating func serviceEndpoint(machine: () async -> String?) async throws(Failure) -> BucketEndpoint {
    question.options.addressing = .path
    question.options.accelerate = false
    let endpoint = try EndpointResolver.resolve(question)
    guard question.region == nil, endpoint.isAWS, let region = await machine() else { return endpoint }
    question.region = region
    sources[.region] = "this machine"
    return try EndpointResolver.resolve(question)
  }

  /// The URL's, else what chose among AWS's.
  package func endpointSource(_ bucket: BucketEndpoint, named: Bool = true) -> String {
    let options = bucket.question.options
    if let source = sources[.endpoint] { return source }
    let variants = [
      (options.accelerate, Setting.accelerate), (options.dualstack, .dualstack), (options.fips, .fips),
    ].filter(\.0).map { "\($0.1.rawValue) by \(source($0.1))" }
    return (["AWS's " + (named ? bucket.kind.rawValue : "S3")] + variants).joined(separator: ", ")
  }

  package func source(_ name: Setting) -> String { sources[name] ?? "default" }

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
      // Acceleration is in the host always; to AWS's tools the style is then none.
      options.addressing = options.accelerate ? .auto : style
      options.addressingIsWish = true
      sources[.addressing] = profileName
    }
    let usesARN = try AWSVariables.value("AWS_S3_USE_ARN_REGION", environment, "true or false", ProfileS3.flag)
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
  /// What `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` leaves: the AWS variables are configuration too.
  fileprivate var ownEndpoint: String? {
    if let origin = origins[.endpoint], origin.isEnvironment, origin.name.hasPrefix("AWS_") { return nil }
    return endpoint
  }

  fileprivate var signs: Bool {
    if case .unsigned = credentials { false } else { true }
  }

  /// The caller said it, no variable.
  fileprivate func isCallers<Value>(_ setting: Setting, _ value: Value?) -> Bool {
    value != nil && origins[setting]?.isEnvironment != true
  }
}
