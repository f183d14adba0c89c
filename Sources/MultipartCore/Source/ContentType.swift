import MultipartBasics

/// Guesses a file's `Content-Type` from its extension, else from its first bytes.
///
/// Without a charset, browsers assume a legacy encoding that depends on their language. So text is declared as UTF-8,
/// unless its first bytes are not UTF-8 or name a different charset: a wrong charset does more harm than none.
enum ContentType {
  static let unknown = "application/octet-stream"
  /// How many leading bytes are examined.
  static let leadingLength = 512

  static func guess(name: String, leading: [UInt8]) -> String {
    let leading = LeadingBytes(leading)
    let type = byName(name) ?? leading.type ?? unknown
    return type.begins(with: text) && leading.mayBeUTF8(type) ? type + "; charset=utf-8" : type
  }

  private static let text = "text/"

  static func knows(_ name: String) -> Bool { byName(name) != nil }

  /// Whether the name alone decides, regardless of the first bytes.
  static func isDecided(by name: String) -> Bool { byName(name).map { !$0.begins(with: text) } ?? false }

  private static func byName(_ name: String) -> String? {
    fileExtension(of: name).flatMap { ContentTypeTable.byExtension[$0] }
  }

  /// The text after the last dot, in lower case. A dot at the beginning marks a hidden file, not an extension. For
  /// `a.tar.gz` only `gz` counts, because it says what the bytes are.
  private static func fileExtension(of name: String) -> String? {
    let bytes = name.utf8
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex,
      bytes[bytes.index(before: dot)] != UInt8(ascii: "/")
    else { return nil }
    let letters = bytes[bytes.index(after: dot)...]
    guard (1...16).contains(letters.count), !letters.contains(UInt8(ascii: "/")) else { return nil }
    return String(decoding: letters.map { $0.isUpperCase ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

extension SourceFile {
  /// Reads at most `count` bytes from the beginning.
  func leadingBytes(_ count: Int) throws(Failure) -> [UInt8] {
    let count = Int(min(Int64(max(0, count)), size))
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(Failure) in try read(into: buffer, at: 0) }
    }
    try result.get()
    return bytes
  }
}

/// Recognises formats by their first bytes.
private struct LeadingBytes {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var type: String? {
    Self.marks.first { has($0.bytes) }?.type ?? container ?? markup ?? binary ?? (isText ? "text/plain" : nil)
  }

  private static let marks: [(bytes: [UInt8], type: String)] = [
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
    ([0xFF, 0xD8, 0xFF], "image/jpeg"),
    (Array("GIF87a".utf8), "image/gif"), (Array("GIF89a".utf8), "image/gif"),
    ([0x49, 0x49, 0x2A, 0], "image/tiff"), ([0x4D, 0x4D, 0, 0x2A], "image/tiff"),
    (Array("%PDF-".utf8), "application/pdf"),
    ([0x1F, 0x8B], "application/gzip"),
    ([0x28, 0xB5, 0x2F, 0xFD], "application/zstd"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "application/x-xz"),
    ([0x04, 0x22, 0x4D, 0x18], "application/x-lz4"),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "application/x-7z-compressed"),
    ([0x50, 0x4B, 3, 4], "application/zip"), ([0x50, 0x4B, 5, 6], "application/zip"),
    ([0x7F, 0x45, 0x4C, 0x46], "application/x-executable"),
    ([0, 0x61, 0x73, 0x6D], "application/wasm"),
    (Array("SQLite format 3\0".utf8), "application/vnd.sqlite3"),
    ([0x4F, 0x62, 0x6A, 1], "application/avro"),
    (Array("OggS\0".utf8), "application/ogg"),
    (Array("fLaC\0".utf8), "audio/flac"),
    (Array("wOFF".utf8), "font/woff"), (Array("wOF2".utf8), "font/woff2"),
  ]

  /// The type of a container format, from a name inside it.
  private var container: String? {
    if has("RIFF") {
      if has("WEBP", at: 8) { return "image/webp" }
      if has("WAVE", at: 8) { return "audio/wav" }
      if has("AVI ", at: 8) { return "video/x-msvideo" }
    }
    if has("ftyp", at: 4) { return brand }
    if has([0x1A, 0x45, 0xDF, 0xA3]) { return contains("webm", within: 64) ? "video/webm" : "video/x-matroska" }
    if has("ustar", at: 257) { return "application/x-tar" }
    // A block size from 1 to 9, then the digits of pi.
    if has("BZh"), has([0x31, 0x41, 0x59, 0x26, 0x53, 0x59], at: 4) { return "application/x-bzip2" }
    return nil
  }

  private var brand: String {
    switch String(decoding: bytes.dropFirst(8).prefix(4), as: UTF8.self) {
    case "avif", "avis": "image/avif"
    case "heic", "heix", "hevc", "hevx": "image/heic"
    case "mif1", "msf1": "image/heif"
    case "qt  ": "video/quicktime"
    case "M4A ", "M4B ": "audio/mp4"
    default: "video/mp4"
    }
  }

  /// The signatures of MP3 and MPEG-TS are short, so the bytes around them must fit too.
  private var binary: String? {
    if has("ID3"), bytes.count > 3, (2...4).contains(bytes[3]) { return "audio/mpeg" }
    // Layer III, with a valid bit rate and sample rate.
    if bytes.count > 2, bytes[0] == 0xFF, bytes[1] & 0xE6 == 0xE2, bytes[2] & 0xF0 != 0xF0, bytes[2] & 0xC != 0xC {
      return "audio/mpeg"
    }
    if bytes.count > 376, [0, 188, 376].allSatisfy({ bytes[$0] == 0x47 }), !isText { return "video/mp2t" }
    if has("PAR1"), !isText { return "application/vnd.apache.parquet" }
    return nil
  }

  private var markup: String? {
    var start = has([0xEF, 0xBB, 0xBF]) ? 3 : 0
    while start < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[start]) { start += 1 }
    let text = bytes[start...].prefix(256).map { $0.isUpperCase ? $0 | 0x20 : $0 }
    func begins(_ mark: String) -> Bool { text.starts(with: mark.utf8) }
    if begins("<?xml") { return contains("<svg", within: bytes.count) ? "image/svg+xml" : "application/xml" }
    if begins("<svg") { return "image/svg+xml" }
    return ["<!doctype html", "<html", "<head", "<body"].contains(where: begins) ? "text/html" : nil
  }

  /// Whether the bytes are UTF-8 without control bytes; the last character may be incomplete.
  private var isText: Bool {
    guard !bytes.isEmpty else { return false }
    let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
    return isPlain && isUTF8
  }

  /// Whether the text may be UTF-8: neither a byte nor its own HTML or CSS declaration contradicts that.
  func mayBeUTF8(_ type: String) -> Bool {
    guard isUTF8, !bytes.contains(0) else { return false }
    let text = LeadingBytes(bytes.map { $0.isUpperCase ? $0 | 0x20 : $0 })
    let names = ["text/html", "text/css"].contains(type) && text.contains("charset", within: bytes.count)
    return !names || text.contains("utf-8", within: bytes.count)
  }

  private var isUTF8: Bool {
    let whole = bytes.count < ContentType.leadingLength
    return (0...(whole ? 0 : min(3, bytes.count - 1))).contains { cut in
      String(validating: bytes.dropLast(cut), as: UTF8.self) != nil
    }
  }

  private func has(_ mark: String, at offset: Int = 0) -> Bool { has(Array(mark.utf8), at: offset) }

  private func has(_ mark: [UInt8], at offset: Int = 0) -> Bool {
    bytes.count >= offset + mark.count && bytes[offset...].starts(with: mark)
  }

  private func contains(_ mark: String, within count: Int) -> Bool {
    let wanted = Array(mark.utf8)
    let area = bytes.prefix(count)
    return area.indices.contains { area[$0...].starts(with: wanted) }
  }
}

extension UInt8 {
  fileprivate var isUpperCase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
}
