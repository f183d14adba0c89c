import MultipartBasics

/// An ETag for comparison: without quotes, in whichever form a store wrote it (`"x"`, `x`, `W/"x"`, `&#34;x&#34;`), and
/// in lower case if it is a hash.
public struct ETag: Sendable, Hashable {
  enum Form: Sendable, Hashable {
    /// 32 hexadecimal digits: the MD5 of the bytes. For an object encrypted with a KMS or customer key it has the same
    /// form, but is not an MD5.
    case md5([UInt8])
    /// 32 hexadecimal digits, a hyphen and the number of parts.
    case multipart(md5OfMD5s: [UInt8], parts: Int)
    /// Anything else, such as the random name of an encrypted object. Says nothing about the bytes.
    case opaque
  }

  let value: String
  let form: Form

  /// Parses an ETag; nil if nothing is left between the quotes.
  public init?(_ text: String) {
    var rest = text.utf8[...]
    while let first = rest.first, first == 0x20 || first == 0x09 { rest = rest.dropFirst() }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
    if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
    if let quote = Self.quotes.first(where: { rest.starts(with: $0.utf8) }) { rest = rest.dropFirst(quote.utf8.count) }
    if let quote = Self.quotes.first(where: { rest.reversed().starts(with: $0.utf8.reversed()) }) {
      rest = rest.dropLast(quote.utf8.count)
    }
    guard !rest.isEmpty else { return nil }
    let bare = String(decoding: rest, as: UTF8.self)
    form = Self.form(of: bare)
    value = form == .opaque ? bare : bare.lowercased()
  }

  /// What a store has written as an ETag; nil if nothing is left between the quotes, which is no ETag.
  static func text(_ written: String?) -> String? {
    written.map(ASCII.trimmed).flatMap { ETag($0) == nil ? nil : $0 }
  }

  /// The ETag with quotes, as a conditional header requires it.
  var quoted: String { "\"" + value + "\"" }

  /// Compares the bytes of both.
  public static func == (a: ETag, b: ETag) -> Bool { a.value.utf8.elementsEqual(b.value.utf8) }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    for byte in value.utf8 { hasher.combine(byte) }
  }

  private static let quotes = ["\"", "&#34;", "&quot;", "&#x22;"]

  private static func form(of bare: String) -> Form {
    if let md5 = md5(bare) { return .md5(md5) }
    if let cut = PartCount.split(bare), let md5 = md5(cut.before) {
      return .multipart(md5OfMD5s: md5, parts: cut.parts)
    }
    return .opaque
  }

  private static func md5(_ text: String) -> [UInt8]? {
    text.utf8.count == 32 ? Hex.decode(text) : nil
  }
}

/// The ETag that S3 gives an object in parts: the MD5 of the parts' MD5s, and the number of parts.
enum MultipartETag {
  static func of(md5s: [[UInt8]]) throws(Failure) -> String {
    Hex.encode(try Digest.md5(md5s.joined())) + "-" + String(md5s.count)
  }
}
