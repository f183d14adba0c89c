import MultipartCore

/// How a file is cut into parts.
struct PartOptions: Sendable, Equatable {
  /// Nil: chosen by the file's size.
  var size: Int64?
  var areEqual = false
  /// Whether a part that delays the end is sent a second time.
  var hedges = true

  init(_ invocation: Invocation) throws(Failure) {
    areEqual = invocation.toggle(.equalParts) ?? false
    hedges = try invocation.choice(.hedge) ?? HedgeChoice.auto == .auto
    guard let given = invocation.last(.partSize), given.value.text != "auto" else { return }
    let size = try invocation.size(.partSize) ?? 0
    guard UploadOptions.partSizes.contains(size) else {
      // A number alone is one of bytes, and `8` was meant as one of mebibytes.
      let meant = SizeValue.parse(given.value.text + "M").map(UploadOptions.partSizes.contains) ?? false
      throw invocation.wrong(
        given, "is not a size for a part",
        remedy: "S3 takes parts of 5M to 5G" + (meant ? ": did you mean \(given.value.text)M?" : "."))
    }
    self.size = size
  }
}

/// What to do about an earlier unfinished upload, and about this one if it does not finish.
struct ResumeOptions: Sendable, Equatable {
  var mode = ResumeMode.auto
  var onInterrupt = InterruptChoice.keep
  /// Nil: a second run for the same object fails at once.
  var lockPatience: Duration?
  /// Nil: no limit.
  var deadline: Duration?

  /// Practically forever.
  private static let longPatience = Duration.seconds(365 * 86_400)

  init(_ invocation: Invocation) throws(Failure) {
    mode = try invocation.choice(.resume) ?? .auto
    onInterrupt = try invocation.choice(.onInterrupt) ?? .keep
    deadline = try invocation.duration(.deadline)
    if let given = invocation.last(.waitLock) {
      lockPatience = given.value.bytes.isEmpty ? Self.longPatience : try invocation.duration(.waitLock)
    }
  }
}

/// What proves that the bytes arrived.
struct IntegrityOptions: Sendable, Equatable {
  var checksum = ChecksumChoice.auto
  var verify = false
  var expectSize: Int64?
  var minSize: Int64?
  /// 64 hex digits in lower case.
  var expectSHA256: String?

  init() {}

  init(_ invocation: Invocation) throws(Failure) {
    checksum = try invocation.choice(.checksum) ?? .auto
    verify = invocation.toggle(.verify) ?? false
    expectSize = try invocation.size(.expectSize)
    minSize = try invocation.size(.minSize)
    if let given = invocation.last(.expectSHA256) {
      let hex = given.value.text.lowercased()
      guard hex.utf8.count == 64, hex.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
        throw invocation.wrong(
          given, "is not a SHA-256", remedy: "Give its 64 hexadecimal digits, as sha256sum prints them.")
      }
      expectSHA256 = hex
    }
  }
}

/// Conditions on the existing object.
struct ConditionOptions: Sendable, Equatable {
  var ifNoneMatch = false
  var ifMatch: String?

  init() {}

  init(_ invocation: Invocation) throws(Failure) {
    ifNoneMatch = invocation.toggle(.ifNoneMatch) ?? false
    ifMatch = try invocation.text(.ifMatch)
    if ifNoneMatch, ifMatch != nil {
      throw Failure(
        .usage, "--if-none-match and --if-match exclude each other",
        remedy: "Use --if-none-match to create, --if-match ETAG to replace.")
    }
  }
}
