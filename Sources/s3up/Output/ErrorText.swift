import MultipartBasics
import MultipartCore

/// The two lines of an error: what happened and where, with the store's code and request id; then the remedy.
enum ErrorText {
  /// Long enough for a command with a key of 1,024 bytes and an upload id: nobody should copy a part of a command.
  static let longestAdvice = 1900

  static func lines(for failure: Failure) -> [String] {
    let message = SafeText.oneLine(failure.message.commandText)
    var details = whereabouts(failure.place, message)
    var store: [String] = []
    if let status = failure.status { store.append("HTTP \(status)") }
    if let code = failure.s3Code, !message.holds(code) { store.append(SafeText.oneLine(code, limit: 80)) }
    if !store.isEmpty { details.append(store.joined(separator: " ")) }
    if let id = failure.requestID { details.append("request id \(SafeText.oneLine(id, limit: 120))") }
    let first = "s3up: " + message + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    var remedy =
      failure.remedy.map { SafeText.oneLine($0.commandText(at: failure.place), limit: longestAdvice) }
      ?? wayOut(failure.code)
    if failure.remedy?.actions == [.listObjects], let key = failure.place.key { remedy += meant(key) }
    return [first, sentence(remedy)]
  }

  /// The remedy with a capital letter, unless it begins with a command to type or an address, and without the full stop
  /// of a single sentence: after a command or a URL the stop would be copied with it.
  private static func sentence(_ remedy: String) -> String {
    let isSingle = remedy.ends(with: ".") && !remedy.ends(with: "..") && !remedy.holds(". ")
    let bare = isSingle ? String(Substring(remedy.utf8.dropLast())) : remedy
    let isVerbatim = ["s3up ", "http://", "https://", "s3://"].contains { bare.begins(with: $0) }
    return isVerbatim ? bare : bare.prefix(1).uppercased() + bare.dropFirst()
  }

  /// What was probably meant by a key that no object has.
  private static func meant(_ key: String) -> String {
    if key.holds("?versionId=") { return "; a version is named with --version-id" }
    if key.holds("*") { return "; a key is taken as it is, and s3up get -r --include 'PATTERN' chooses among many" }
    return key.ends(with: "/") ? "; s3up get -r downloads everything below a prefix" : ""
  }

  /// The facts of the place that the message does not contain already.
  private static func whereabouts(_ place: Place, _ message: String) -> [String] {
    var words: [String] = []
    // A web address in place of a file may contain a signature, and a key that is made of its name too.
    let file = place.file.map { SafeText.oneLine(Redaction.text($0), limit: 200) } ?? ""
    if !file.isEmpty, !says(message, file) {
      words.append(file)
    }
    if let bucket = place.bucket {
      let url = SafeText.oneLine(Redaction.text("s3://\(bucket)" + (place.key.map { "/\($0)" } ?? "")), limit: 300)
      if !says(message, url) { words.append(url) }
    }
    if let part = place.part { words.append("part \(part)") }
    return words
  }

  /// Whether the message contains the name as a separate word: a file named `f` is not in "the file shrank".
  private static func says(_ message: String, _ name: String) -> Bool {
    let text = Array(message.utf8)
    let word = Array(name.utf8)
    guard !word.isEmpty, text.count >= word.count else { return false }
    return (0...text.count - word.count).contains { start in
      guard text[start...].starts(with: word) else { return false }
      let end = start + word.count
      return !isOfWord(start == 0 ? 0x20 : text[start - 1]) && !isOfWord(end == text.count ? 0x20 : text[end])
    }
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"), 0x80...:
      true
    default: false
    }
  }

  /// The general remedy, for a failure without one of its own.
  private static func wayOut(_ code: Failure.Code) -> String {
    switch code {
    case .usage: "'s3up help' explains the commands and their options."
    case .configuration: "Fix the setting, or override it with an option."
    case .sourceMissing: "Check the file's path and whether you may read it."
    case .sourceChanged: "Run it again when nothing writes to the source any more."
    case .dataMismatch: "Nothing is proven. Check the source and the expectation, then run it again."
    case .refused:
      "The same command would be refused again; s3up doctor, with the bucket's URL, checks the connection to the store."
    case .precondition: "Nothing was written. Use another key, or leave the condition out to replace the object."
    case .uploadGone: "Begin a new upload: this one was completed, aborted or cleaned up."
    case .checksumUnsupported: "Try --checksum md5, or --checksum none."
    case .credentials:
      "Check the credentials and what they allow: s3up doctor shows which ones are used, and from where."
    case .credentialsExpired: "Get new credentials and run the same command again."
    case .clockSkew: "Set this machine's clock and run the same command again."
    case .network: "Check the endpoint and the network, then run the same command again."
    case .tls: "Give the store's certificate authority with --ca-bundle, or check that the endpoint is the right one."
    case .stalled: "Run the same command again; on a slow line raise --stall-timeout or lower --concurrency."
    case .throttled: "Run the same command again later, or lower --concurrency."
    case .server: "Run the same command again; the server that answered has a problem."
    case .deadline: "Run the same command again, or give it more time with --deadline."
    case .locked: "Wait for the other run to end, or use --wait-lock."
    case .interrupted: "Run the same command again."
    case .output: "Do not run it again. Check that the reader of the output still runs and that its disk is not full."
    case .local: "Check this machine's memory and disk, then run the same command again."
    }
  }
}

extension Failure {
  /// A failure about what was typed: its texts already use the words of the command line.
  @_disfavoredOverload
  init(_ code: Code, _ message: String, remedy: String?) {
    self.init(code, Wording(message), remedy: remedy.map { Wording($0) })
  }
}
