import MultipartBasics

/// The checksum headers of requests and answers, such as `x-amz-checksum-crc64nvme`. Algorithms are not listed here, so
/// that future ones work as well.
enum ChecksumHeaders {
  static let prefix = "x-amz-checksum-"
  private static let notValues = [HeaderName.checksumAlgorithm, HeaderName.checksumType, HeaderName.checksumMode]

  /// The values by lower-case header name; without those of a header that has several.
  static func values(in headers: HeaderList) -> [String: String] {
    var values: [String: String] = [:]
    for field in headers.fields where field.name.utf8.count > prefix.utf8.count {
      let name = field.name.lowercased()
      guard isValue(name), !field.value.isEmpty else { continue }
      values[name] = headers.sole(name)
    }
    return values
  }

  /// The values by the matching header's name: `<ChecksumCRC32C>` is `x-amz-checksum-crc32c`.
  static func values(in element: XMLElement) -> [String: String] {
    var values: [String: String] = [:]
    for child in element.children where child.name.begins(with: "Checksum") {
      let suffix = child.name.dropFirst("Checksum".count).lowercased()
      let text = ASCII.trimmed(child.text)
      guard suffix != "type", suffix != "algorithm", !suffix.isEmpty, !text.isEmpty else { continue }
      values[prefix + suffix] = text
    }
    return values
  }

  /// The XML element for a header's value; nil for a header that is not a checksum.
  static func element(for header: String) -> String? {
    let name = header.lowercased()
    guard isValue(name), name.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }) else {
      return nil
    }
    return "Checksum" + name.dropFirst(prefix.count).uppercased()
  }

  private static func isValue(_ name: String) -> Bool {
    name.begins(with: prefix) && name.utf8.count > prefix.utf8.count && !notValues.contains(name)
  }

  /// Whether refusing this header means refusing a checksum.
  static func isChecksum(_ name: String) -> Bool {
    let name = name.lowercased()
    return name == "content-md5" || name == "x-amz-sdk-checksum-algorithm"
      || (name.begins(with: prefix) && name != HeaderName.checksumMode)
  }
}
