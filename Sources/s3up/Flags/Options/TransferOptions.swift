import MultipartCore

/// How a file is cut into parts.
struct PartOptions: Sendable, Equatable {
  /// Nil: chosen by the file's size.
  var size: Int64?
  var areEqual = false
  /// A part that holds up the end is sent a second time.
  var hedges = true

  init(_ invocation: Invocation) throws(Failure) {
    areEqual = invocation.toggle(.equalParts) ?? false
    hedges = try invocation.choice(.hedge) ?? HedgeChoice.auto == .auto
    guard let given = invocation.last(.partSize), given.value.text != "auto" else { return }
    let size = try invocation.size(.partSize) ?? 0
    guard UploadOptions.partSizes.contains(size) else {
      throw invocation.wrong(given, "is no size for a part", remedy: "S3 takes parts of 5M to 5G.")
    }
    self.size = size
  }
}

/// What is done about an upload that was not finished, and about this one if it is not.
struct ResumeOptions: Sendable, Equatable {
  var mode = ResumeMode.auto
  var onInterrupt = InterruptChoice.keep
  /// Nil: a second run at the same object ends at once.
  var lockPatience: Duration?
  /// Nil: the run takes as long as it takes.
  var deadline: Duration?

  /// As good as for ever.
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
  /// 64 hex digits, in small letters.
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
          given, "is no SHA-256", remedy: "Give its 64 hexadecimal digits, as sha256sum prints them.")
      }
      expectSHA256 = hex
    }
  }
}

/// What must hold of the object that is there.
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
