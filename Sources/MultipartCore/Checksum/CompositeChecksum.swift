import MultipartBasics

/// The checksum over the parts' checksums, which S3 writes as `base64-N`.
struct CompositeChecksum: Sendable, Hashable {
  let checksum: Checksum
  let parts: Int

  var algorithm: ChecksumAlgorithm { checksum.algorithm }
  var text: String { checksum.base64 + "-" + String(parts) }

  /// The composite of the parts' checksums in order: at least one, all of one algorithm that has a composite form.
  init(of parts: [Checksum]) throws(Failure) {
    guard let algorithm = parts.first?.algorithm, algorithm.typeInParts == .composite,
      parts.allSatisfy({ $0.algorithm == algorithm })
    else {
      throw Failure(.local, "these part checksums have no composite form")
    }
    var running = try RunningChecksum(algorithm)
    for part in parts { running.update(part.bytes) }
    checksum = try running.finish()
    self.parts = parts.count
  }

  /// A composite checksum from an answer; nil unless it is `base64-N` with canonical base64 of the right length.
  init?(_ algorithm: ChecksumAlgorithm, text: String) {
    guard algorithm.typeInParts == .composite, let cut = PartCount.split(text),
      let checksum = Checksum(algorithm, base64: cut.before)
    else { return nil }
    self.checksum = checksum
    parts = cut.parts
  }
}

/// The ending `-N` of composite checksums and multipart ETags.
enum PartCount {
  /// The text before the last hyphen, and the number after it: at least 1, without leading zeros, at most nine digits
  /// (S3 stops at 10,000; other stores may not).
  static func split(_ text: String) -> (before: String, parts: Int)? {
    guard let hyphen = text.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
    let digits = text.utf8[text.utf8.index(after: hyphen)...]
    guard digits.first != UInt8(ascii: "0"), let parts = Int(digits, in: 1...999_999_999),
      let before = String(text.utf8[..<hyphen])
    else { return nil }
    return (before, parts)
  }
}
