/// A setting of the caller's, as the library's texts refer to it. Each program shows it under its own name: `s3up` as
/// an option, a form as a field (see ``Wording``).
public enum Setting: String, Sendable, CaseIterable {
  // Where the store is, and how it is reached.
  case region, endpoint, addressing, accelerate, dualstack, fips, proxy, caBundle, verifiesTLS, payloadSigning
  // Whose credentials sign.
  case profile, signsRequests, cognitoLogin, waitForCredentials
  // How the upload goes.
  case partSize, equalParts, concurrency, limitRate, deadline, checksum, resume, waitForOtherUpload, stateFolder
  case tries
  // What the source must be.
  case expectedSize, minimumSize, expectedSHA256
  // What the object is created with.
  case contentType, cacheControl, contentDisposition, contentEncoding, contentLanguage, expires
  case metadata, tags, storageClass, websiteRedirect, accessControl, grants
  case serverSideEncryption, kmsKeyID, kmsContext, bucketKey, customerKey
  case objectLockMode, retainUntil, legalHold
  // Which object is meant, and the conditions on it.
  case ifMatch, ifNoneMatch, versionID
  // What may become of a file that is there.
  case overwrites
  // The single steps of an upload.
  case offset, length, allowsGaps
  /// How long a presigned URL or a ticket is valid.
  case urlLifetime
  /// Sign a ticket again of which nothing shows that it is what was issued.
  case trustsEdited
  /// Publish what a ticket's upload has, though nobody has said that it is the whole.
  case asItIs
  // A run of many: what it sends, and what it writes about that.
  case include, exclude, allowsNothing, manifest, failedNames, variables, endsWithZero
  // What any run writes about itself.
  case trace, report

  /// How a text names a setting.
  public enum Form: Sendable, Equatable {
    /// By its name alone.
    case name
    /// With the value to give it.
    case value(String)
    /// Switched off, such as `verifiesTLS: false`.
    case off
    /// A place to keep its secret that other users of the machine cannot read, such as a variable.
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
