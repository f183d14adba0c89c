import MultipartBasics

/// Removes from URLs and headers what would let a reader of the log make requests in our name. Also covers URLs that
/// were signed by other systems (older S3 signatures, Google's, Azure's, CloudFront's).
public enum Redaction {
  static let mask = "REDACTED"

  /// The URL without secrets.
  public static func url(_ url: String) -> String {
    let query = URLQuery(of: Array(withoutUser(url).utf8))
    let place = String(decoding: query.place, as: UTF8.self)
    guard query.isThere else { return place }
    let items = query.items.map { item -> String in
      let name = String(decoding: item.name, as: UTF8.self)
      let isHidden = item.value != nil && SecretNames.isHidden(parameter: name)
      return isHidden ? "\(name)=\(mask)" : String(decoding: item.text, as: UTF8.self)
    }
    return place + "?" + items.joined(separator: "&")
  }

  /// A text for people without the secrets of URLs in it, such as one that was typed where a file is expected.
  public static func text(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "?")) || text.holds("://") else { return text }
    var (out, word) = ([UInt8](), [UInt8]())
    func close() {
      // What follows a URL in a sentence is not part of it.
      let end = word.lastIndex { !".,:;".utf8.contains($0) }.map { $0 + 1 } ?? 0
      out += url(String(decoding: word[..<end], as: UTF8.self)).utf8
      out += word[end...]
      word = []
    }
    for byte in text.utf8 {
      if ends.contains(byte) {
        close()
        out.append(byte)
      } else {
        word.append(byte)
      }
    }
    close()
    return String(decoding: out, as: UTF8.self)
  }

  /// What a URL in a text ends at.
  private static let ends = Set(" \t\n\"'".utf8)

  /// Whether the value of a header or of metadata of this name may be secret. Logs hide fewer.
  public static func mayBeSecret(field name: String) -> Bool { SecretNames.mayBeSecret(field: name) }

  static func headers(_ headers: HeaderList) -> HeaderList {
    var out = HeaderList()
    for field in headers.fields {
      let name = field.name.lowercased()
      if name == "authorization" {
        out.add(field.name, authorization(field.value))
      } else {
        out.add(field.name, SecretNames.isSecret(header: name) ? mask : field.value)
      }
    }
    return out
  }

  /// A header of an answer for a log, as `Name: value`. A redirect repeats our URL with its signature.
  static func shown(_ field: NamedValue) -> String {
    let value = SecretNames.isSecret(header: field.name) ? mask : SafeText.oneLine(url(field.value), limit: 1000)
    return "\(SafeText.oneLine(field.name, limit: 200)): \(value)"
  }

  /// The header without its signature. The list of signed headers is kept, because it helps when a signature does not
  /// match.
  private static func authorization(_ value: String) -> String {
    guard let rest = value.rest(after: SigV4.algorithm + " ") else { return mask }
    let fields = rest.words(between: ",").map { part -> String in
      let text = ASCII.trimmed(String(part))
      return text.begins(with: "SignedHeaders=") ? text : "\(text.upTo("="))=\(mask)"
    }
    return SigV4.algorithm + " " + fields.joined(separator: ", ")
  }

  /// A URL such as `http://user:password@host/` without the part before the `@`.
  private static func withoutUser(_ url: String) -> String {
    guard url.utf8.contains(UInt8(ascii: "@")) else { return url }
    let bytes = Array(url.utf8)
    guard let user = user(in: bytes) else { return url }
    return String(decoding: bytes[..<user.lowerBound], as: UTF8.self) + mask
      + String(decoding: bytes[user.upperBound...], as: UTF8.self)
  }

  /// Whether a user, with or without a password, stands before the host.
  public static func hasUser(_ url: String) -> Bool { user(in: Array(url.utf8)) != nil }

  /// The user and password of a URL: from the two slashes to the last `@` before the next slash. After an access key id
  /// the slash belongs to the secret: many AWS secrets contain one. The words of our own hints are no secret.
  static func user(in bytes: [UInt8]) -> Range<Int>? {
    let (slash, at) = (UInt8(ascii: "/"), UInt8(ascii: "@"))
    guard let first = bytes.firstIndex(of: slash), first + 1 < bytes.count, bytes[first + 1] == slash else {
      return nil
    }
    let rest = bytes[(first + 2)...]
    let name = rest.prefix { $0 != UInt8(ascii: ":") && $0 != slash }
    let isKeyID =
      name.count >= 16 && name.endIndex < rest.endIndex && rest[name.endIndex] == UInt8(ascii: ":")
      && name.allSatisfy { ASCII.isDigit($0) || (0x41...0x5A).contains($0) }
    guard let end = (isKeyID ? rest : rest.prefix { $0 != slash }).lastIndex(of: at),
      !bytes[(first + 2)..<end].elementsEqual("USER:PASSWORD".utf8)
    else { return nil }
    return (first + 2)..<end
  }
}

extension Redaction {
  /// A server's sentence without the secrets that its answer names, and without words that look like a secret unknown
  /// to this run, such as another user's token. On one line, without white space at its ends.
  static func sentence(_ text: String, secrets: [String]) -> String {
    var bytes = Array(text.utf8.prefix(4096))
    for secret in secrets.map({ Array(ASCII.trimmed($0).utf8) }) where secret.count >= 8 {
      bytes = bytes.split(separator: secret, omittingEmptySubsequences: false).joined(separator: mask.utf8).map { $0 }
    }
    // Signatures are 64 hex digits, tokens are long words, an SSE-C key is 44 characters of base64.
    let words = bytes.split(separator: 0x20, omittingEmptySubsequences: false).map { word in
      looksSecret(word) ? Array(mask.utf8) : Array(word)
    }
    let clean = String(decoding: Array(words.joined(separator: [0x20])), as: UTF8.self)
    return SafeText.oneLine(ASCII.trimmed(clean), limit: 300)
  }

  private static func looksSecret(_ word: ArraySlice<UInt8>) -> Bool {
    if word.count > 200 { return true }
    // Anywhere in the word, as in `key=…` or `"…"`.
    var hex = 0
    var base64 = 0
    for byte in word {
      hex = Hex.value(of: byte) == nil ? 0 : hex + 1
      if hex >= 64 || (byte == 0x3D && base64 >= 43) { return true }
      base64 = ASCII.isAlphanumeric(byte) || byte == 0x2B || byte == 0x2F ? base64 + 1 : 0
    }
    return false
  }
}
