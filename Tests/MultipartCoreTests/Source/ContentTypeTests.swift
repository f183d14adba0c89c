import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct ContentTypeTests {
  private static let names: [(name: String, type: String)] = [
    ("a.json", "application/json"), ("A.JSON", "application/json"), ("backup.tar.gz", "application/gzip"),
    ("backup.tgz", "application/gzip"), ("dump.sql.zst", "application/zstd"), ("dump.sql", "application/sql"),
    ("app.wasm", "application/wasm"), ("index.mjs", "text/javascript; charset=utf-8"), ("p.AVIF", "image/avif"),
    ("rows.parquet", "application/vnd.apache.parquet"), ("folder.d/x.png", "image/png"),
    ("a.b.c.txt", "text/plain; charset=utf-8"),
    ("page.html", "text/html; charset=utf-8"), ("film.mkv", "video/x-matroska"), ("book.epub", "application/epub+zip"),
    ("data.7z", "application/x-7z-compressed"), ("é.csv", "text/csv; charset=utf-8"), ("x.tar.xz", "application/x-xz"),
    ("site.webmanifest", "application/manifest+json"), ("lib.jar", "application/java-archive"),
  ]

  @Test("The extension decides, in upper or lower case, whatever the bytes are", arguments: names)
  func byName(name: String, type: String) {
    #expect(ContentType.guess(name: name, leading: []) == type)
    #expect(ContentType.guess(name: name, leading: Array("%PDF-1.7".utf8)) == type)
  }

  private static let charsets: [(name: String, bytes: [UInt8], type: String)] = [
    ("a.html", [], "text/html; charset=utf-8"), ("a.html", [0xE9, 0x20], "text/html"),
    ("a.txt", Array("a charset".utf8), "text/plain; charset=utf-8"), ("a.txt", [0xFF, 0xFE, 0x61, 0], "text/plain"),
    ("a.txt", [0x61, 0], "text/plain"), ("a.css", Array(#"@charset "latin1";"#.utf8), "text/css"),
    ("a.css", Array(#"@charset "UTF-8";"#.utf8), "text/css; charset=utf-8"),
    ("a.html", Array("<meta Charset=iso-8859-1>".utf8), "text/html"),
    ("a.html", Array("<META CHARSET='Utf-8'>".utf8), "text/html; charset=utf-8"),
    ("a.svg", Array("<svg/>".utf8), "image/svg+xml"), ("a.json", Array("{}".utf8), "application/json"),
    ("page", Array("<html><meta charset=latin1>".utf8), "text/html"),
  ]

  @Test("Text is UTF-8 unless its first bytes are not, or HTML or CSS names another charset", arguments: charsets)
  func charset(name: String, bytes: [UInt8], type: String) {
    #expect(ContentType.guess(name: name, leading: bytes) == type)
  }

  private static let hidden = [
    "noextension", "", ".", "..", ".json", "dir.png/file", "dot.", "a.unheard", "x.\u{301}png", "a.json ",
    "a." + String(repeating: "x", count: 5000), "mod.ts",
  ]

  @Test("A name without a known extension does not decide", arguments: hidden)
  func noName(name: String) {
    #expect(ContentType.guess(name: name, leading: []) == "application/octet-stream")
    #expect(ContentType.guess(name: name, leading: Array("%PDF-1.7".utf8)) == "application/pdf")
  }

  private static func padded(_ prefix: [UInt8], _ marks: [(Int, String)] = []) -> [UInt8] {
    var bytes = prefix + [UInt8](repeating: 0, count: 512 - prefix.count)
    for (offset, mark) in marks { bytes.replaceSubrange(offset..<offset + mark.utf8.count, with: mark.utf8) }
    return bytes
  }

  /// The beginning of a file, and its type.
  struct Mark: Sendable, CustomTestStringConvertible {
    var bytes: [UInt8]
    var type: String

    init(_ bytes: [UInt8], _ type: String) {
      self.bytes = bytes
      self.type = type
    }

    var testDescription: String { "\(type): \(bytes.prefix(12))" }
  }

  private static let marks: [Mark] = [
    Mark(padded([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), "image/png"),
    Mark(padded([0xFF, 0xD8, 0xFF, 0xE0]), "image/jpeg"), Mark(padded(Array("GIF89a".utf8)), "image/gif"),
    Mark(padded([], [(0, "RIFF"), (8, "WEBP")]), "image/webp"),
    Mark(padded([], [(0, "RIFF"), (8, "WAVE")]), "audio/wav"),
    Mark(padded([], [(0, "RIFF"), (8, "AVI ")]), "video/x-msvideo"),
    Mark(Array("%PDF-1.4\n".utf8), "application/pdf"), Mark(padded([0x1F, 0x8B, 8]), "application/gzip"),
    Mark(padded([0x28, 0xB5, 0x2F, 0xFD]), "application/zstd"), Mark(padded([0x50, 0x4B, 3, 4]), "application/zip"),
    Mark(padded([0x50, 0x4B, 5, 6]), "application/zip"),
    Mark(padded([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]), "application/x-xz"),
    Mark(Array("BZh9".utf8) + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59], "application/x-bzip2"),
    Mark(padded([0x7F, 0x45, 0x4C, 0x46]), "application/x-executable"),
    Mark(Array("SQLite format 3\0".utf8), "application/vnd.sqlite3"),
    Mark(padded([], [(4, "ftypisom")]), "video/mp4"), Mark(padded([], [(4, "ftypM4A ")]), "audio/mp4"),
    Mark(padded([], [(4, "ftypqt  ")]), "video/quicktime"), Mark(padded([], [(4, "ftypavif")]), "image/avif"),
    Mark(padded([0x1A, 0x45, 0xDF, 0xA3], [(24, "webm")]), "video/webm"),
    Mark(padded([0x1A, 0x45, 0xDF, 0xA3], [(24, "matroska")]), "video/x-matroska"),
    Mark(Array("OggS\0".utf8), "application/ogg"), Mark(Array("fLaC\0".utf8), "audio/flac"),
    Mark(Array("ID3".utf8) + [4, 0, 0], "audio/mpeg"), Mark([0xFF, 0xFB, 0x90, 0x64], "audio/mpeg"),
    Mark([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0], "application/wasm"),
    Mark(padded([], [(257, "ustar")]), "application/x-tar"),
    Mark(Array("<?xml version=\"1.0\"?><a/>".utf8), "application/xml"),
    Mark(Array("\u{FEFF}\n <?xml version=\"1.0\"?>\n<svg/>".utf8), "image/svg+xml"),
    Mark(Array("<!DOCTYPE html>".utf8), "text/html; charset=utf-8"),
    Mark(Array("  \r\n<HTML lang=en>".utf8), "text/html; charset=utf-8"),
    Mark(padded([0x47], [(188, "G"), (376, "G")]), "video/mp2t"),
    Mark(Array("PAR1".utf8) + [0x15, 4], "application/vnd.apache.parquet"),
  ]

  @Test("Without an extension the first bytes decide", arguments: marks)
  func byBytes(mark: Mark) {
    #expect(ContentType.guess(name: "file", leading: mark.bytes) == mark.type)
  }

  @Test("UTF-8 without control bytes is text, even if the last character is incomplete")
  func text() {
    let texts = ["hello\n", "Grüße, 世界 🌍\r\n\tend", "ID3 tags", "PAR1 and 2", "BZh9 ratios", "\u{1B}[1mbold"]
    for text in texts {
      #expect(ContentType.guess(name: "f", leading: Array(text.utf8)) == "text/plain; charset=utf-8")
    }
    for cut in 0..<4 {
      let bytes = Array((String(repeating: "a", count: cut) + String(repeating: "🌍", count: 128)).utf8.prefix(512))
      #expect(ContentType.guess(name: "f", leading: bytes) == "text/plain; charset=utf-8")
    }
    // A whole file that ends in half a letter is not UTF-8.
    #expect(ContentType.guess(name: "f", leading: [0x61, 0xF0, 0x9F]) == "application/octet-stream")
  }

  private static let nothings: [[UInt8]] = [
    [], [0], [0x61, 0], [0xFF], [0xFF, 0xFE, 0x61, 0], [0x80, 0x81], [0xC0, 0xAF], [0x89, 0x50, 0x4E],
    Array("RIFF".utf8) + [0, 0, 0, 0] + Array("XXXX".utf8), Array("ID3".utf8) + [8],
  ]

  @Test("Anything else is application/octet-stream", arguments: nothings)
  func unknown(bytes: [UInt8]) {
    #expect(ContentType.guess(name: "f", leading: bytes) == "application/octet-stream")
  }

  @Test("A truncated beginning of any format does no harm")
  func everyPrefix() {
    for bytes in Self.marks.map(\.bytes) {
      for count in 0...min(40, bytes.count) { _ = ContentType.guess(name: "f", leading: Array(bytes.prefix(count))) }
    }
    for seed in 0..<500 {
      let bytes = randomBytes(seed, seed: UInt64(seed))
      #expect(!ContentType.guess(name: "f", leading: bytes).isEmpty)
    }
  }

  @Test("A file gives its first bytes, as many as it has, and fails if they are gone")
  func leadingBytes() throws {
    let folder = try TemporaryDirectory()
    let bytes = randomBytes(1000, seed: 1)
    let file = try SourceFile(FilePath(try folder.write(bytes, to: "f")))
    #expect(try file.leadingBytes(512) == Array(bytes[..<512]))
    #expect(try file.leadingBytes(5000) == bytes)
    #expect(try file.leadingBytes(0).isEmpty)
    #expect(try file.leadingBytes(-1).isEmpty)
    #expect(try SourceFile(FilePath(try folder.write([], to: "empty"))).leadingBytes(512).isEmpty)
    try resize(folder.path("f"), 0)
    let failure = #expect(throws: Failure.self) { try file.leadingBytes(512) }
    #expect(failure?.code == .sourceChanged)
  }
}
