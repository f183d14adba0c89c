import MultipartCore

extension StoreOptions {
  /// How to reach the store, from the command line and the environment.
  init(_ invocation: Invocation) throws(Failure) {
    self.init()
    let connection = try ConnectionOptions(invocation)
    let credential = try CredentialOptions(invocation)
    endpoint = connection.endpointURL
    region = connection.region
    profile = credential.profile
    addressing = connection.addressing
    accelerate = connection.accelerate
    dualstack = connection.dualstack
    fips = connection.fips
    caBundle = connection.caBundle?.text
    verifiesTLS = !connection.insecure
    proxy = connection.proxy
    requestPayer = connection.requestPayer
    expectedBucketOwner = connection.expectedBucketOwner
    credentials =
      credential.noSignRequest ? .unsigned : credential.githubRole.map { .github(role: $0) } ?? .chain
    githubAudience = credential.githubAudience
    credentialPatience = credential.patience
    stateFolder = try invocation.path(.stateDir)?.text
    payloadSigning = try invocation.choice(.payloadSigning)
    sessionEncryption = try EncryptionOptions(invocation).server
    try readTransfer(invocation)
    for setting in Setting.allCases {
      switch invocation.last(setting.flag)?.origin {
      case .environment(let variable)?: origins[setting] = Provenance(variable, isEnvironment: true)
      case .commandLine(let name)?: origins[setting] = Provenance(name, isEnvironment: false)
      case nil: break
      }
    }
  }

  private mutating func readTransfer(_ invocation: Invocation) throws(Failure) {
    if let given = invocation.last(.concurrency), given.value.text != "auto" {
      connections = try invocation.number(.concurrency, in: Self.connectionCounts).map { .fixed($0) }
    }
    tries = try invocation.number(.retries, in: Self.tryCounts)
    stallTimeout = try invocation.duration(.stallTimeout)
    connectTimeout = try invocation.duration(.connectTimeout)
    if let given = invocation.last(.tcpCongestion) {
      switch given.value.text {
      case "auto": congestion = .auto
      case "system": congestion = .system
      case let name:
        // The kernel allows names of up to 15 bytes.
        guard (1...15).contains(name.utf8.count), name.utf8.allSatisfy(ASCII.isVisible) else {
          throw invocation.wrong(
            given, "is not the name of a congestion control",
            remedy: "Take auto, system, or a name of /proc/sys/net/ipv4/tcp_allowed_congestion_control.")
        }
        congestion = .named(name)
      }
    }
    if let given = invocation.last(.limitRate) {
      guard let rate = RateValue.parse(given.value.text) else {
        throw invocation.wrong(given, "is not a rate", remedy: RateValue.form)
      }
      if case .limit(let limit) = rate { limitRate = limit }
    }
  }
}

extension UploadOptions {
  init(_ invocation: Invocation) throws(Failure) {
    self.init()
    let object = try ObjectOptions(invocation)
    self.object = try object.headers()
    encryption = object.encryption.server
    customerKey = try object.encryption.customerKey()
    conditions = try ConditionOptions(invocation).write
    let parts = try PartOptions(invocation)
    (partSize, equalParts, hedges) = (parts.size, parts.areEqual, parts.hedges)
    let integrity = try IntegrityOptions(invocation)
    checksum = integrity.checksum.form
    verifies = integrity.verify
    expectedSize = integrity.expectSize
    leastSize = integrity.minSize
    expectedSHA256 = integrity.expectSHA256
    let resume = try ResumeOptions(invocation)
    self.resume = resume.mode
    abortsWhenCancelled = resume.onInterrupt == .abort
    lockPatience = resume.lockPatience
    skipsSame = invocation.toggle(.skipSame) ?? false
    deadline = resume.deadline
  }
}
