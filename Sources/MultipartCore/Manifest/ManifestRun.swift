import Glibc

/// A line of a manifest with the name that it is sorted by.
struct ManifestLine: Comparable {
  let name: [UInt8]
  let text: [UInt8]

  /// Compares the bytes of the names; for equal names those of the lines.
  static func < (a: ManifestLine, b: ManifestLine) -> Bool {
    switch order(a.name, b.name) {
    case 0: order(a.text, b.text) < 0
    case let order: order < 0
    }
  }

  private static func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
    let common = a.withUnsafeBytes { a in b.withUnsafeBytes { b in compare(a, b) } }
    return common != 0 ? common : a.count - b.count
  }

  private static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    guard let first = a.baseAddress, let second = b.baseAddress else { return 0 }
    return Int(memcmp(first, second, min(a.count, b.count)))
  }

  /// The form in the scratch file: both lengths, then both texts.
  var stored: [UInt8] {
    [name.count, text.count].flatMap { length in withUnsafeBytes(of: UInt32(length)) { Array($0) } } + name + text
  }
}

/// Sorted lines in the scratch file, read from the beginning.
struct ManifestRun {
  private let file: ScratchFile
  private var rest: Range<Int64>
  private var buffer: ArraySlice<UInt8> = []
  /// The next line.
  private(set) var first: ManifestLine

  private static let step: Int64 = 32 << 10

  /// The run; nil if it is empty.
  init?(_ file: ScratchFile, _ range: Range<Int64>) throws(Failure) {
    self.file = file
    rest = range
    first = ManifestLine(name: [], text: [])
    guard try advance() else { return nil }
  }

  /// Moves to the next line; false at the end.
  mutating func advance() throws(Failure) -> Bool {
    guard !buffer.isEmpty || !rest.isEmpty else { return false }
    let lengths = try take(8).withUnsafeBytes { bytes in
      (Int(bytes.loadUnaligned(as: UInt32.self)), Int(bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    }
    first = ManifestLine(name: try take(lengths.0), text: try take(lengths.1))
    return true
  }

  private mutating func take(_ count: Int) throws(Failure) -> [UInt8] {
    while buffer.count < count {
      let next = rest.lowerBound..<min(rest.upperBound, rest.lowerBound + max(Self.step, Int64(count)))
      buffer = (buffer + (try file.read(next)))[...]
      rest = next.upperBound..<rest.upperBound
    }
    defer { buffer = buffer.dropFirst(count) }
    return Array(buffer.prefix(count))
  }
}
