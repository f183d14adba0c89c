import MultipartBasics
import MultipartCore

extension UploadOptions {
  /// Reads the options from the command line and the environment. The file of a customer key may be a pipe, so it is
  /// read only once.
  init(_ invocation: Invocation) throws(Failure) {
    self.init()
    object = try ObjectHeaders(invocation)
    notesTime = invocation.toggle(.mtime) ?? false
    encryption = try ServerSideEncryption(invocation)
    let isEncryption: (NamedValue) -> Bool = { $0.name.lowercased().begins(with: "x-amz-server-side-encryption") }
    if encryption != nil, let header = object.extra.first(where: isEncryption) {
      throw ObjectHeaders.isSetTwice(header.name)
    }
    conditions = WriteConditions(
      ifNoneMatch: invocation.toggle(.ifNoneMatch) ?? false, ifMatch: try invocation.text(.ifMatch))
    partSize = try Self.partSize(invocation)
    equalParts = invocation.toggle(.equalParts) ?? false
    checksum = try ChecksumForm(invocation)
    skipsSame = invocation.toggle(.skipSame) ?? false
    skipsExisting = invocation.toggle(.skipExisting) ?? false
    verifies = invocation.toggle(.verify) ?? false
    expectedSize = try invocation.size(.expectSize)
    minimumSize = try invocation.size(.minSize)
    expectedSHA256 = try Self.sha256(invocation)
    resume = try invocation.choice(.resume) ?? .auto
    abortsWhenCancelled = try invocation.word(.onInterrupt) == "abort"
    waitForOtherUpload = try Self.waitForOtherUpload(invocation)
    deadline = try invocation.duration(.deadline)
    hedges = try invocation.word(.hedge) != "off"
    if conditions.ifNoneMatch, conditions.ifMatch != nil {
      throw Failure(
        .usage, "--if-none-match and --if-match exclude each other",
        remedy: "Use --if-none-match to create, --if-match ETAG to replace.")
    }
    for (name, given) in [
      (FlagName.skipSame, skipsSame), (.ifMatch, conditions.ifMatch != nil), (.ifNoneMatch, conditions.ifNoneMatch),
    ] where skipsExisting && given {
      throw Failure(
        .usage, "--skip-existing and --\(name.rawValue) exclude each other",
        remedy: "--skip-existing leaves an existing object alone, whatever it contains. Leave one of them out.")
    }
    customerKey = try invocation.path(.sseCKeyFile).map { (file) throws(Failure) in
      try CustomerKey(
        file: FilePath(bytes: file.bytes), isOfObject: !ModeSet.stating.contains(invocation.mode))
    }
  }

  private static func partSize(_ invocation: Invocation) throws(Failure) -> Int64? {
    guard let given = invocation.last(.partSize), given.value.text != "auto" else { return nil }
    let size = try invocation.size(.partSize) ?? 0
    let (sizes, rule) =
      invocation.command == .get
      ? (DownloadOptions.partSizes, "Ranges may have 64K to 5G") : (partSizes, "S3 takes parts of 5M to 5G")
    guard sizes.contains(size) else {
      // A number alone is in bytes, but `8` was meant in mebibytes.
      let meant = SizeValue.parse(given.value.text + "M").map(sizes.contains) ?? false
      throw invocation.wrong(
        given, "is not a size for a part", remedy: rule + (meant ? ": did you mean \(given.value.text)M?" : "."))
    }
    return size
  }

  private static func sha256(_ invocation: Invocation) throws(Failure) -> String? {
    guard let given = invocation.last(.expectSHA256) else { return nil }
    let hex = given.value.text.lowercased()
    guard hex.utf8.count == 64, hex.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw invocation.wrong(
        given, "is not a SHA-256", remedy: "Give its 64 hexadecimal digits, as sha256sum prints them.")
    }
    return hex
  }

  /// How long to wait; without a value a year, practically forever.
  private static func waitForOtherUpload(_ invocation: Invocation) throws(Failure) -> Duration? {
    guard let given = invocation.last(.waitLock) else { return nil }
    return given.value.bytes.isEmpty ? .seconds(365 * 86_400) : try invocation.duration(.waitLock)
  }
}

extension ChecksumForm {
  static let words = ["auto"] + ChecksumAlgorithm.words + ["none"]

  /// Reads `--checksum`; nil for `auto`.
  init?(_ invocation: Invocation) throws(Failure) {
    guard let word = try invocation.word(.checksum) else { return nil }
    self.init(word: word)
  }
}

extension ServerSideEncryption {
  /// Reads `--sse`; nil without it, and then the other encryption options may not be given.
  init?(_ invocation: Invocation) throws(Failure) {
    let algorithm: Algorithm? = try invocation.choice(.sse)
    let isKMS = algorithm == .kms || algorithm == .kmsDualLayer
    for name in [FlagName.sseKMSKeyID, .sseKMSContext, .bucketKey] where invocation.has(name) && !isKMS {
      throw Failure(.usage, "\(name.long) needs --sse aws:kms", remedy: "Add --sse aws:kms, or leave it out.")
    }
    guard let algorithm else { return nil }
    if invocation.has(.sseCKeyFile) {
      throw Failure(
        .usage, "--sse and --sse-c-key-file exclude each other", remedy: "Use a key of the store or one of your own.")
    }
    self.init(
      algorithm, keyID: try invocation.text(.sseKMSKeyID), contextJSON: try Self.context(invocation),
      bucketKey: invocation.toggle(.bucketKey))
  }

  private static func context(_ invocation: Invocation) throws(Failure) -> String? {
    let all = invocation.all(.sseKMSContext)
    guard let first = all.first else { return nil }
    let text = try invocation.text(first)
    if text.begins(with: "{") {
      guard all.count == 1, JSON.parse(Array(text.utf8))?.isObjectOfStrings == true else {
        throw invocation.wrong(
          first, "is not one JSON object of strings", remedy: "Write --sse-kms-context K=V, or '{\"K\":\"V\"}'.")
      }
      return text
    }
    let pairs = try invocation.keyValues(.sseKMSContext)
    return JSON.object(pairs.map { ($0.name, .string($0.value)) }).encoded
  }
}
