extension Redaction {
  /// A server's sentence without the secrets that its answer names, and without words that look like a secret unknown to
  /// this run, such as somebody else's token. On one line, without white space at its ends.
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
