import MultipartBasics

/// The rules for bucket names: those of all stores, those of AWS, and those of host names.
enum BucketName {
  /// Refuses names that no store allows, or that would change the path of the request. Stores other than AWS allow
  /// `tenant:bucket`, upper case and more.
  static func check(_ name: String) throws(Failure) {
    guard !name.isEmpty else {
      throw Failure(.usage, "the name of the bucket is missing", remedy: "write s3://BUCKET/KEY")
    }
    let allowed =
      name.utf8.count <= 255
      && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    guard allowed, !name.begins(with: "."), !name.holds("..") else {
      throw Failure(
        .usage, "\"\(SafeText.oneLine(name))\" cannot be the name of a bucket",
        remedy: "a bucket's name has letters, digits, dots and hyphens, and no spaces or slashes")
    }
  }

  /// Refuses names that are too short for any store.
  static func checkLength(_ name: String) throws(Failure) {
    guard name.utf8.count < 3 else { return }
    throw Failure(
      .usage, "\"\(SafeText.oneLine(name))\" is too short for the name of a bucket",
      remedy: "a bucket's name has at least 3 characters; the form is s3://BUCKET/KEY")
  }

  static func checkForAWS(_ name: String) throws(Failure) {
    try check(name)
    // No bucket's name may end like this: it is an alias whose requests SigV4 cannot sign.
    if name.ends(with: ".mrap") {
      throw Failure(
        .usage,
        "\"\(SafeText.oneLine(name))\" is a multi-region access point, whose requests must be signed with SigV4A, "
          + "which is not supported", remedy: "give the bucket, or an access point, of one region")
    }
    guard name.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "._-".utf8.contains($0) }) else {
      throw Failure(
        .usage, "\"\(SafeText.oneLine(name))\" cannot be the name of a bucket on AWS",
        remedy: "names have letters, digits, dots, hyphens and underscores")
    }
  }

  /// Refuses names that AWS does not allow for a new bucket. Older buckets in us-east-1 may have capitals and
  /// underscores, and must be addressed in the path.
  static func checkForToday(_ name: String) throws(Failure) {
    guard !fitsHost(name) else { return }
    throw Failure(
      .usage, "\"\(SafeText.oneLine(name))\" cannot be the name of a bucket on AWS",
      remedy: "use 3 to 63 lower-case letters, digits, dots and hyphens; another store needs \(.endpoint) URL, "
        + "a bucket from before 2018 \(.addressing, "path")")
  }

  /// Whether the name follows AWS's rule for new buckets: 3 to 63 of `a-z 0-9 - .`, every label valid, and not an IPv4
  /// address.
  static func fitsHost(_ name: String) -> Bool {
    guard (3...63).contains(name.utf8.count), !looksLikeAddress(name) else { return false }
    return name.pieces(at: ".").allSatisfy { isLabel(String($0)) }
  }

  /// Whether the text is a label of a host name, in lower case.
  static func isLabel(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard (1...63).contains(bytes.count), bytes.first != UInt8(ascii: "-"), bytes.last != UInt8(ascii: "-") else {
      return false
    }
    return bytes.allSatisfy { ASCII.isDigit($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
  }

  /// Whether the text can be the region of a store other than AWS: a label in any case, also with dots and underscores.
  /// It is part of each signature's scope, never of a host name.
  static func isRegion(_ text: String) -> Bool {
    let plain = text.utf8.map { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") ? UInt8(ascii: "a") : $0 }
    // Only ASCII is lower-cased: some letters of Unicode become ASCII in lower case.
    return plain.allSatisfy { $0 < 0x80 } && isLabel(String(decoding: plain, as: UTF8.self).lowercased())
  }

  /// Whether the name is four numbers separated by dots.
  static func looksLikeAddress(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(ASCII.isDigit) }
  }
}
