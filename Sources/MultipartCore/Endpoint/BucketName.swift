/// The rules for names of buckets: what a store of one's own may have, what AWS has, and what fits into a host name.
package enum BucketName {
  /// What no store can have, or what would change the path that is sent. Others than AWS use `tenant:bucket`, upper
  /// case and more.
  static func check(_ name: String) throws(Failure) {
    guard !name.isEmpty else {
      throw Failure(.usage, "the name of the bucket is missing", remedy: "write s3://BUCKET/KEY")
    }
    let allowed = name.utf8.count <= 255 && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    guard allowed, name != ".", name != ".." else {
      throw Failure(
        .usage, "\"\(SafeText.oneLine(name))\" cannot be the name of a bucket", remedy: "write s3://BUCKET/KEY")
    }
  }

  static func checkForAWS(_ name: String) throws(Failure) {
    try check(name)
    // No bucket may end so: it would be an alias whose requests SigV4 cannot sign.
    if name.hasSuffix(".mrap") {
      throw Failure(
        .usage,
        "\"\(SafeText.oneLine(name))\" is a multi-region access point, whose requests must be signed with SigV4A, "
          + "which s3up does not do", remedy: "give the bucket, or an access point, of one region")
    }
    guard name.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "._-".utf8.contains($0) }) else {
      throw Failure(
        .usage, "\"\(SafeText.oneLine(name))\" cannot be the name of a bucket on AWS",
        remedy: "names have letters, digits, dots, hyphens and underscores")
    }
  }

  /// What AWS takes for the name of a bucket that is made today; older ones of us-east-1, with capitals and underscores,
  /// have to be asked for in the path.
  package static func checkForToday(_ name: String) throws(Failure) {
    guard !fitsHost(name) else { return }
    throw Failure(
      .usage, "\"\(SafeText.oneLine(name))\" cannot be the name of a bucket on AWS",
      remedy: "use 3 to 63 small letters, digits, dots and hyphens; another store needs \(.endpoint) URL, "
        + "a bucket from before 2018 \(.addressing, "path")")
  }

  /// AWS's rule for buckets made today: 3 to 63 of `a-z 0-9 - .`, every label sound, not an IPv4 address.
  static func fitsHost(_ name: String) -> Bool {
    guard (3...63).contains(name.utf8.count), !looksLikeAddress(name) else { return false }
    return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isLabel(String($0)) }
  }

  /// One label of a host name, in lower case.
  static func isLabel(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard (1...63).contains(bytes.count), bytes.first != UInt8(ascii: "-"), bytes.last != UInt8(ascii: "-") else {
      return false
    }
    return bytes.allSatisfy { ASCII.isDigit($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
  }

  /// The name of a region at a store of one's own: a label in any case, also with dots and underscores. It goes into the
  /// scope of each signature, never into a host.
  static func isRegion(_ text: String) -> Bool {
    let plain = text.utf8.map { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") ? UInt8(ascii: "a") : $0 }
    // Case is folded on ASCII alone: Unicode has letters beyond it that fold into it.
    return plain.allSatisfy { $0 < 0x80 } && isLabel(String(decoding: plain, as: UTF8.self).lowercased())
  }

  /// Four numbers with dots between.
  static func looksLikeAddress(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(ASCII.isDigit) }
  }
}
