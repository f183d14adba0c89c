import MultipartBasics
import MultipartCore

/// Which upload a step belongs to, and which slice of the file a part is.
struct StepOptions: Sendable, Equatable {
  var uploadID: String?
  var part: Int?
  var offset: Int64 = 0
  /// The length; nil: to the end of the file.
  var length: Int64?
  /// A presigned URL, used instead of credentials.
  var url: String?
  /// The list of parts; `-` is standard input.
  var partsFile: Argument?
  /// Part numbers may be missing.
  var allowsGaps = false

  init(_ invocation: Invocation) throws(Failure) {
    uploadID = try invocation.text(.uploadID)
    part = try invocation.number(.part, in: S3Limits.partNumbers)
    offset = try invocation.size(.offset) ?? 0
    length = try invocation.size(.length)
    partsFile = try invocation.path(.partsFile)
    allowsGaps = invocation.toggle(.allowGaps) ?? false
    url = invocation.last(.url)?.value.text
    if let url { try MultipartUpload.check(url: url) }
    if url != nil {
      for name in [FlagName.uploadID, .part] where invocation.has(name) {
        throw Failure(
          .usage, "--url and --\(name.rawValue) exclude each other",
          remedy: "A presigned URL names its upload and part.")
      }
    } else {
      try Self.require(.uploadID, invocation, "Give --upload-id ID, the id that create printed.")
      if invocation.command == .part { try Self.require(.part, invocation, "Give --part N, 1 to 10000.") }
    }
  }

  private static func require(_ name: FlagName, _ invocation: Invocation, _ remedy: String) throws(Failure) {
    guard invocation.has(name) else {
      throw Failure(.usage, "\(invocation.command.rawValue): --\(name.rawValue) is missing", remedy: remedy)
    }
  }
}

/// What to do about unfinished uploads.
struct CleanOptions: Sendable, Equatable {
  var cleans = false
  var olderThan: Duration?
  var all = false
  var dryRun = false

  init(_ invocation: Invocation) throws(Failure) {
    cleans = invocation.toggle(.clean) ?? false
    olderThan = try invocation.duration(.olderThan)
    all = invocation.toggle(.all) ?? false
    dryRun = invocation.toggle(.dryRun) ?? false
    for name in [FlagName.all, .dryRun] where invocation.toggle(name) == true && !cleans {
      throw Failure(.usage, "\(name.long) goes with --clean", remedy: "Add --clean, or leave it out.")
    }
    if all, olderThan == nil {
      throw Failure(
        .usage, "--all needs --older-than, or it would end uploads that are running", remedy: "Add --older-than 7d.")
    }
  }
}

/// What a presigned URL allows, and for how long.
struct PresignChoices: Sendable, Equatable {
  var method = PresignedURL.Method.get
  /// In whole seconds, 1 to 604,800.
  var expires: Int64 = 900
  var contentType: String?
  var contentMD5: String?
  /// The list of MD5s; `-` is standard input.
  var contentMD5File: Argument?
  var versionID: String?
  var uploadID: String?
  var parts: ClosedRange<Int>?
  var givesChecksums = false
  /// Query parameters that override headers of the response to a GET.
  var overrides: [NamedValue] = []

  /// The options for each URL; number and MD5 are those of its part.
  var options: PresignOptions {
    var options = PresignOptions()
    (options.uploadID, options.versionID, options.contentType) = (uploadID, versionID, contentType)
    (options.answerHeaders, options.givesChecksums) = (overrides, givesChecksums)
    return options
  }

  init(_ invocation: Invocation) throws(Failure) {
    if let lifetime = try invocation.lifetime(.expires) { expires = lifetime.components.seconds }
    contentType = try invocation.text(.contentType)
    contentMD5 = try invocation.text(.contentMD5)
    contentMD5File = try invocation.path(.contentMD5File)
    versionID = try invocation.text(.versionID)
    uploadID = try invocation.text(.uploadID)
    parts = try invocation.partRange(.part)
    method = try invocation.choice(.method) ?? (parts == nil ? .get : .put)
    overrides = try Self.overrides(invocation)
    givesChecksums = invocation.toggle(.checksumMode) ?? false
    try check(invocation)
  }

  private func check(_ invocation: Invocation) throws(Failure) {
    func refuse(_ text: String, _ remedy: String) -> Failure { Failure(.usage, text, remedy: remedy) }
    if (uploadID == nil) != (parts == nil) {
      throw refuse("--upload-id and --part belong together", "Give both: --upload-id ID --part 1-40.")
    }
    if parts != nil, method != .put {
      throw refuse("parts are sent by PUT", "Leave --method out, or write --method PUT.")
    }
    if contentType != nil || contentMD5 != nil, method != .put {
      throw refuse("--content-type and --content-md5 are for PUT", "Add --method PUT.")
    }
    if let md5 = contentMD5, Base64.decode(md5)?.count != 16 {
      throw refuse("--content-md5: '\(md5)' is not an MD5 in base64", "It is 24 letters long and ends in ==.")
    }
    try checkMD5s()
    if !overrides.isEmpty, method != .get {
      throw refuse("the --response options are for GET", "Leave them out for \(method.rawValue).")
    }
    if givesChecksums, ![.get, .head].contains(method) {
      throw refuse("--checksum-mode is for GET and HEAD", "Leave it out for \(method.rawValue).")
    }
    if versionID != nil, method == .put { throw refuse("--version-id is not for PUT", "A PUT makes a new version.") }
  }

  private func checkMD5s() throws(Failure) {
    if contentMD5 != nil, contentMD5File != nil {
      throw Failure(
        .usage, "--content-md5 and --content-md5-file exclude each other", remedy: "Leave one of them out.")
    }
    if contentMD5File != nil, parts == nil {
      throw Failure(
        .usage, "--content-md5-file is for parts", remedy: "Add --upload-id ID --part 1-40, or give --content-md5.")
    }
    if contentMD5 != nil, let parts, parts.count > 1 {
      throw Failure(
        .usage, "--content-md5: one MD5 cannot fit \(parts.count) parts",
        remedy: "Give --content-md5-file FILE, with a line for each part: its number and its MD5.")
    }
  }

  private static func overrides(_ invocation: Invocation) throws(Failure) -> [NamedValue] {
    let names: [FlagName] = [
      .responseCacheControl, .responseContentDisposition, .responseContentEncoding, .responseContentLanguage,
      .responseContentType,
    ]
    var result: [NamedValue] = []
    for name in names {
      if let value = try invocation.text(name) { result.append(NamedValue(name.rawValue, value)) }
    }
    if let value = try invocation.httpDate(.responseExpires) {
      result.append(NamedValue(FlagName.responseExpires.rawValue, value))
    }
    return result
  }
}
