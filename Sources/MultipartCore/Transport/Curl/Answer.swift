import MultipartBasics

/// An answer while it is received, with limits on its size.
struct Answer {
  private static let maximumHeaderBytes = 256 << 10

  private(set) var status = 0
  private(set) var headers = HeaderList()
  /// Whether the empty line after the headers was received.
  private(set) var hasWholeHead = false
  var body: [UInt8] = []
  private var headerBytes = 0

  /// Takes one header line from libcurl, with its line break. A status line starts over, because what preceded it was a
  /// 1xx answer.
  mutating func take(header line: UnsafeRawBufferPointer) -> Failure? {
    headerBytes += line.count
    guard headerBytes <= Self.maximumHeaderBytes else {
      return Failure(.server, "the answer's headers are longer than \(Self.maximumHeaderBytes) bytes")
    }
    let text = Self.trim(line[...])
    if text.starts(with: "HTTP/".utf8) {
      status = Self.status(in: text)
      headers = HeaderList()
      hasWholeHead = false
      return nil
    }
    if text.isEmpty { hasWholeHead = true }
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    headers.add(
      String(decoding: text[..<colon], as: UTF8.self),
      String(decoding: Self.trim(text[(colon + 1)...]), as: UTF8.self))
    return nil
  }

  private static func status(in line: Slice<UnsafeRawBufferPointer>) -> Int {
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    return words.count > 1 ? Int(words[1], in: 100...999) ?? 0 : 0
  }

  private static func trim(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var rest = bytes
    while let last = rest.last, last <= 0x20 { rest.removeLast() }
    while let first = rest.first, first <= 0x20 { rest.removeFirst() }
    return rest
  }
}
