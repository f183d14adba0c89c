import Glibc

/// One word of the command line, as bytes and as text. A file name on Linux need not be UTF-8, so files are opened by
/// the bytes; in the text U+FFFD replaces what is not UTF-8.
struct Argument: Sendable, Hashable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }
  init(_ text: String) { bytes = Array(text.utf8) }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The text; nil if the bytes are not UTF-8.
  var utf8Text: String? { String(validating: bytes, as: UTF8.self) }

  /// The bytes with a terminating zero, for C.
  var cString: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  /// The part after the last slash; empty for a path that ends in one.
  var lastComponent: Argument {
    Argument(bytes: Array(bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []))
  }

  /// The words after the program's name.
  static func ofProcess() -> [Argument] {
    let vector = CommandLine.unsafeArgv
    return (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      guard let word = vector[index] else { return nil }
      return Argument(bytes: Array(UnsafeRawBufferPointer(start: word, count: strlen(word))))
    }
  }
}

extension Argument: ExpressibleByStringLiteral {
  init(stringLiteral value: String) { self.init(value) }
}
