import MultipartBasics
import MultipartCore

/// How the command line names the library's settings and actions: the only table of their options and commands.
extension Setting {
  var flag: FlagName {
    switch self {
    case .region: .region
    case .endpoint: .endpointURL
    case .addressing: .addressing
    case .accelerate: .accelerate
    case .dualstack: .dualstack
    case .fips: .fips
    case .proxy: .proxy
    case .caBundle: .caBundle
    case .verifiesTLS: .insecure
    case .payloadSigning: .payloadSigning
    case .profile: .profile
    case .signsRequests: .noSignRequest
    case .cognitoLogin: .cognitoLogin
    case .waitForCredentials: .waitForCredentials
    case .partSize: .partSize
    case .equalParts: .equalParts
    case .concurrency: .concurrency
    case .limitRate: .limitRate
    case .tries: .retries
    case .deadline: .deadline
    case .checksum: .checksum
    case .resume: .resume
    case .waitForOtherUpload: .waitLock
    case .stateFolder: .stateDir
    case .expectedSize: .expectSize
    case .minimumSize: .minSize
    case .expectedSHA256: .expectSHA256
    case .contentType: .contentType
    case .cacheControl: .cacheControl
    case .contentDisposition: .contentDisposition
    case .contentEncoding: .contentEncoding
    case .contentLanguage: .contentLanguage
    case .expires: .expiresHeader
    case .metadata: .metadata
    case .tags: .tag
    case .storageClass: .storageClass
    case .websiteRedirect: .websiteRedirect
    case .accessControl: .acl
    case .grants: .grant
    case .serverSideEncryption: .sse
    case .kmsKeyID: .sseKMSKeyID
    case .kmsContext: .sseKMSContext
    case .bucketKey: .bucketKey
    case .customerKey: .sseCKeyFile
    case .objectLockMode: .objectLockMode
    case .retainUntil: .retainUntil
    case .legalHold: .legalHold
    case .ifMatch: .ifMatch
    case .ifNoneMatch: .ifNoneMatch
    case .versionID: .versionID
    case .urlLifetime: .expires
    case .requestPayer: .requestPayer
    case .trustsEdited: .trustEdited
    case .asItIs: .asItIs
    case .comparesBytes: .deep
    case .overwrites: .overwrite
    case .skipsSame: .skipSame
    case .offset: .offset
    case .length: .length
    case .allowsGaps: .allowGaps
    case .include: .include
    case .exclude: .exclude
    case .allowsNothing: .allowEmpty
    case .manifest: .manifest
    case .failedNames: .failedTo
    case .variables: .dotenv
    case .endsWithZero: .null
    case .log: .verbose
    case .trace: .trace
    case .report: .report
    }
  }

  /// The option, such as `--region eu-west-1` or `--no-accelerate`.
  func option(_ form: Form) -> String {
    switch (self, form) {
    // Once shows details, twice each request.
    case (.log, _): "-vv"
    case (_, .name): flag.long
    case (_, .value(let value)): "\(flag.long) \(value)"
    // These two options switch something off; a variable may have set them.
    case (.verifiesTLS, .off): "\(flag.long) (\(flag.variable))"
    case (.signsRequests, .off): flag.long
    case (_, .off): "--no-" + flag.rawValue
    // Other users of this machine can see arguments.
    case (_, .secret): flag.variable
    }
  }
}

extension RemedyAction {
  /// The options of this run that lead to its store, set once: a command that is proposed must not go to another one.
  static let reach = Locked("")

  /// The command, ready to be copied into a shell; `place` is what the failure is about.
  func commandLine(at place: Place = Place()) -> String {
    let reach = Self.reach.withLock { $0 }
    return switch self {
    case .listObjects: "s3up ls " + Self.url(place.bucket ?? "BUCKET", place.key.map(Self.folder)) + reach
    case .headObject: "s3up head " + Self.url(place.bucket ?? "BUCKET", place.key ?? "KEY") + reach
    case .downloadFolder: "s3up get -r " + Self.url(place.bucket ?? "BUCKET", (place.key ?? "") + "/") + reach
    case .abort(let bucket, let key, let uploadID):
      "s3up abort \(Self.url(bucket, key)) --upload-id=\(ShellWord.quoted(uploadID))" + reach
    case .listUploads(let bucket, let key): "s3up uploads " + Self.url(bucket, key) + reach
    case .listRecordedUploads: "s3up uploads"
    case .listBuckets: "s3up ls" + reach
    case .cleanUp(let bucket, let days):
      "s3up uploads \(Self.url(bucket)) --clean --all --older-than \(days)d" + reach
    case .examine: "s3up doctor" + reach
    case .sendPart: "s3up part FILE … --part 1"
    case .listParts: "s3up parts"
    case .renewTicket(let all): "s3up ticket renew TICKET" + (all ? " --all" : "")
    case .upload: "s3up put"
    case .uploadFromWeb(let address):
      // Whatever a message may not repeat is not in it.
      "s3up put --from-command \(Self.url(place.bucket ?? "BUCKET", place.key ?? "KEY")) -- curl -fsSL "
        + (Redaction.url(address).utf8.elementsEqual(address.utf8) ? ShellWord.quoted(address) : "'URL'")
    }
  }

  /// The key up to its last slash.
  private static func folder(_ key: String) -> String {
    key.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(key[...$0]) } ?? ""
  }

  private static func url(_ bucket: String, _ key: String? = nil) -> String {
    ShellWord.visible("s3://\(bucket)" + (key.map { "/\($0)" } ?? ""))
  }
}

extension Wording {
  /// The text with options and commands, without the secrets of URLs: whatever was typed may be one.
  var commandText: String { commandText(at: Place()) }

  func commandText(at place: Place) -> String {
    Redaction.text(text(setting: { $0.option($1) }, action: { $0.commandLine(at: place) }))
  }
}
