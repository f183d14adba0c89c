/// The names of all options. If a name means different things in two commands, it has two `Flag`s, which have no
/// command in common.
enum FlagName: String, Sendable, CaseIterable {
  case partSize = "part-size"
  case concurrency
  case limitRate = "limit-rate"
  case hedge
  case retries
  case stallTimeout = "stall-timeout"
  case connectTimeout = "connect-timeout"
  case deadline
  case equalParts = "equal-parts"
  case fromCommand = "from-command"
  case toCommand = "to-command"

  case recursive
  case include
  case exclude
  case attributes
  case followSymlinks = "follow-symlinks"
  case filesFrom = "files-from"
  case null
  case batch
  case shard
  case manifest
  case skipSame = "skip-same"
  case skipExisting = "skip-existing"
  case nonUTF8 = "non-utf8"
  case failedTo = "failed-to"
  case failFast = "fail-fast"
  case allowEmpty = "allow-empty"

  case resume
  case onInterrupt = "on-interrupt"
  case waitLock = "wait-lock"

  case checksum
  case payloadSigning = "payload-signing"
  case verify
  case deep
  case expectSize = "expect-size"
  case expectSHA256 = "expect-sha256"
  case minSize = "min-size"

  case contentType = "content-type"
  case cacheControl = "cache-control"
  case contentDisposition = "content-disposition"
  case contentEncoding = "content-encoding"
  case contentLanguage = "content-language"
  case expiresHeader = "expires-header"
  case metadata
  case mtime
  case tag
  case storageClass = "storage-class"
  case acl
  case grant
  case sse
  case sseKMSKeyID = "sse-kms-key-id"
  case sseKMSContext = "sse-kms-context"
  case bucketKey = "bucket-key"
  case sseCKeyFile = "sse-c-key-file"
  case objectLockMode = "object-lock-mode"
  case retainUntil = "retain-until"
  case legalHold = "legal-hold"
  case websiteRedirect = "website-redirect"
  case header

  case ifNoneMatch = "if-none-match"
  case ifMatch = "if-match"

  case endpointURL = "endpoint-url"
  case region
  case profile
  case addressing
  case tcpCongestion = "tcp-congestion"
  case accelerate
  case dualstack
  case fips
  case caBundle = "ca-bundle"
  case insecure
  case proxy
  case requestPayer = "request-payer"
  case expectedBucketOwner = "expected-bucket-owner"
  case noSignRequest = "no-sign-request"
  case githubRole = "github-role"
  case githubAudience = "github-audience"
  case waitForCredentials = "wait-for-credentials"
  case cognitoIdentityPool = "cognito-identity-pool"
  case cognitoLogin = "cognito-login"
  case access

  case stateDir = "state-dir"

  case progress
  case title
  case quiet
  case verbose
  case json
  case color
  case explain
  case notify
  case notifyOn = "notify-on"
  case notifySecretFile = "notify-secret-file"
  case dotenv
  case trace
  case report
  case help
  case version
  case man

  case uploadID = "upload-id"
  case part
  case offset
  case length
  case url
  case partsFile = "parts-file"
  case allowGaps = "allow-gaps"

  case clean
  case olderThan = "older-than"
  case all
  case dryRun = "dry-run"

  case ticket
  case parts
  case size
  case maxSize = "max-size"
  case output
  case format
  case setCORS = "set-cors"
  case trustEdited = "trust-edited"
  case asItIs = "as-it-is"

  case overwrite
  case ifNewer = "if-newer"
  case range

  case long
  case humanReadable = "human-readable"
  case versions

  case checksumMode = "checksum-mode"
  case method
  case expires
  case contentMD5 = "content-md5"
  case contentMD5File = "content-md5-file"
  case responseContentType = "response-content-type"
  case responseContentDisposition = "response-content-disposition"
  case responseContentEncoding = "response-content-encoding"
  case responseContentLanguage = "response-content-language"
  case responseCacheControl = "response-cache-control"
  case responseExpires = "response-expires"
  case versionID = "version-id"

  var long: String { "--" + rawValue }

  /// The option's own variable, such as `S3UP_PART_SIZE`.
  var variable: String {
    let words = rawValue.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    return "S3UP_" + String(decoding: words, as: UTF8.self).uppercased()
  }
}
