import Glibc
import MultipartBasics

/// The secrets that a request carries in its headers and URL, to find them in an answer that repeats them.
struct SentSecrets {
  /// Secrets that many requests use: tokens, SSE-C keys.
  private(set) var lasting: [[UInt8]] = []
  /// Secrets of this request only: its signature.
  private(set) var ofThisRequest: [[UInt8]] = []

  init(_ request: Request) {
    for field in request.headers.fields where SecretNames.isCredential(header: field.name) { add(header: field) }
    if let password = Self.password(in: request.url) { lasting.append(password) }
    addQuery(of: request.url)
  }

  private mutating func add(header field: NamedValue) {
    let name = field.name.lowercased()
    if name == "authorization" || name == "proxy-authorization" {
      // In `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…` only the signature is secret.
      let value = Array(field.value.utf8)
      if let end = Self.end(ofFirst: "Signature=", in: value) {
        ofThisRequest.append(Array(value[end...]))
      } else {
        // The value is `Bearer …`, `Basic …`, or only a token.
        lasting.append(Array(field.value.utf8.split(separator: 0x20, maxSplits: 1).last ?? [][...]))
      }
      return
    }
    lasting.append(Array(field.value.utf8))
    // An SSE-C key and its MD5 are sent in Base64; the server has the bytes and may write them in a different form.
    if let bytes = Base64.decode(field.value), name.holds("-customer-key") { lasting.append(bytes) }
  }

  private mutating func addQuery(of url: String) {
    guard url.utf8.contains(UInt8(ascii: "?")) else { return }
    for item in URLQuery(of: Array(url.utf8)).items {
      let name = String(decoding: item.name, as: UTF8.self)
      guard let text = item.value, !text.isEmpty, SecretNames.isSecret(parameter: name) else { continue }
      let value = Array(PercentEncoding.decoded(String(decoding: text, as: UTF8.self)).utf8)
      if name.lowercased().ends(with: "signature") { ofThisRequest.append(value) } else { lasting.append(value) }
    }
  }

  private static func end(ofFirst mark: StaticString, in bytes: [UInt8]) -> Int? {
    let length = mark.utf8CodeUnitCount
    guard bytes.count >= length else { return nil }
    return bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return (length...bytes.count).first { memcmp(start + $0 - length, mark.utf8Start, length) == 0 }
    }
  }

  /// The password of a URL: the text between `:` and `@` before the host.
  static func password(in url: String) -> [UInt8]? {
    guard url.utf8.contains(UInt8(ascii: "@")) else { return nil }
    let bytes = Array((url.holds("//") ? url : "//" + url).utf8)
    guard let user = Redaction.user(in: bytes), let colon = bytes[user].firstIndex(of: UInt8(ascii: ":")) else {
      return nil
    }
    return decoded(Array(bytes[(colon + 1)..<user.upperBound]))
  }

  static func decoded(_ password: [UInt8]) -> [UInt8] { DecodedText(password).decoded()?.bytes ?? password }
}
