/// What a caller can set, by the name that texts of the library call it by. Each program shows it by its own name for
/// it: `s3up` as an option, a form as a field (see ``Wording``).
public enum Setting: String, Sendable, CaseIterable {
  // Where the store is, and how it is spoken to.
  case region, endpoint, addressing, accelerate, dualstack, fips, proxy, caBundle, verifiesTLS, payloadSigning
  // Who asks.
  case profile, signsRequests, cognitoLogin, credentialPatience
  // How the upload goes.
  case partSize, equalParts, concurrency, limitRate, deadline, checksum, resume, lockPatience, stateFolder
  case tries
  // What the source must be.
  case expectedSize, leastSize, expectedSHA256
  // What the object shall be.
  case contentType, cacheControl, contentDisposition, contentEncoding, contentLanguage, expires
  case metadata, tags, storageClass, websiteRedirect, accessControl, grants
  case serverSideEncryption, kmsKeyID, kmsContext, bucketKey, customerKey
  case objectLockMode, retainUntil, legalHold
  // Which object is meant, and what must hold of it.
  case ifMatch, ifNoneMatch, versionID
  // What a single step is about.
  case offset, length, allowsGaps
  /// How long a presigned URL is valid.
  case urlLifetime

  /// How a text names a setting.
  public enum Form: Sendable, Equatable {
    /// By its name alone.
    case name
    /// With the value to give it.
    case value(String)
    /// Switched off.
    case off
    /// Where a secret of it is kept from other users of the machine.
    case secret
  }

  /// `region: "eu-west-1"`, `accelerate: false`
  func words(_ form: Form) -> String {
    switch form {
    case .name, .secret: rawValue
    case .value(let value): "\(rawValue): \"\(value)\""
    case .off: "\(rawValue): false"
    }
  }
}
