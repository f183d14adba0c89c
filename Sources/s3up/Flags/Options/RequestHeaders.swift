import MultipartCore

extension ObjectOptions {
  static func headers(_ invocation: Invocation) throws(Failure) -> [NamedValue] {
    var result: [NamedValue] = []
    for given in invocation.all(.header) {
      let source = given.origin.text
      // No message shows the value: a header may be a secret.
      guard let text = given.value.utf8Text, HeaderText.isValue(text),
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), HeaderText.isName(String(text[..<colon]))
      else {
        throw Failure(.usage, "\(source): not a header", remedy: "Write --header 'NAME: VALUE'.")
      }
      let name = String(text[..<colon])
      let lower = name.lowercased()
      if lower.begins(with: "x-amz-server-side-encryption-customer-") {
        throw Failure(
          .usage, "\(source): \(name) would show the key in the list of processes", remedy: "Use --sse-c-key-file FILE."
        )
      }
      guard !ObjectHeaders.isReserved(lower) else {
        throw Failure(.usage, "\(source): s3up sets \(name) itself", remedy: "Leave the header out.")
      }
      result.append(NamedValue(name, ASCII.trimmed(String(text[text.utf8.index(after: colon)...]))))
    }
    return result
  }

}

/// Encryption by the store.
struct EncryptionOptions: Sendable, Equatable {
  var kind: ServerSideEncryption.Algorithm?
  var kmsKeyID: String?
  /// A JSON object of strings, not yet in Base64.
  var kmsContext: String?
  /// Nil: the bucket's setting.
  var bucketKey: Bool?
  var customerKeyFile: Argument?

  init() {}

  init(_ invocation: Invocation) throws(Failure) {
    kind = try invocation.choice(.sse)
    kmsKeyID = try invocation.text(.sseKMSKeyID)
    kmsContext = try Self.context(invocation)
    bucketKey = invocation.toggle(.bucketKey)
    customerKeyFile = try invocation.path(.sseCKeyFile)
    let isKMS = kind == .kms || kind == .kmsTwice
    for name in [FlagName.sseKMSKeyID, .sseKMSContext, .bucketKey] where invocation.has(name) && !isKMS {
      throw Failure(.usage, "--\(name.rawValue) needs --sse aws:kms", remedy: "Add --sse aws:kms, or leave it out.")
    }
    if customerKeyFile != nil, kind != nil {
      throw Failure(
        .usage, "--sse and --sse-c-key-file exclude each other", remedy: "Use a key of the store's or one of yours.")
    }
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
