/// A setting that the library's texts refer to. Each program shows it under its own name: `s3up` as an option, a form
/// as a field (see ``Wording``).
public enum Setting: String, Sendable, CaseIterable {
  // Where the store is, and how to reach it.
  case region, endpoint, addressing, accelerate, dualstack, fips, proxy, caBundle, verifiesTLS, payloadSigning
  // Whose credentials sign the requests.
  case profile, signsRequests, requestPayer, cognitoLogin, waitForCredentials
  // How the upload proceeds.
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
  // How an object is compared.
  case comparesBytes
  // What happens to an existing file.
  case overwrites, skipsSame
  // The single steps of an upload.
  case offset, length, allowsGaps
  /// How long a presigned URL or a ticket is valid.
  case urlLifetime
  /// Sign for a ticket although it cannot be shown to be the one that was issued.
  case trustsEdited
  /// Publish what the store has of a ticket's upload, although nothing confirms that it is complete.
  case asItIs
  // What a batch sends, and the files that it writes.
  case include, exclude, allowsNothing, manifest, failedNames, variables, endsWithZero
  // What any run writes about itself.
  case log, trace, report

  /// How a text mentions a setting.
  public enum Form: Sendable, Equatable {
    /// By its name only.
    case name
    /// With the value to give it.
    case value(String)
    /// Switched off, such as `verifiesTLS: false`.
    case off
    /// A place for the secret that other users of the machine cannot read, such as a variable.
    case secret
  }

  /// The setting in Swift syntax: `region: "eu-west-1"`, `accelerate: false`.
  func words(_ form: Form) -> String {
    switch form {
    case .name, .secret: rawValue
    case .value(let value): "\(rawValue): \"\(value)\""
    case .off: "\(rawValue): false"
    }
  }
}
