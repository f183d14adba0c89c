import MultipartBasics

/// A host of AWS's S3, such as `bucket.s3.eu-west-1.amazonaws.com`, in its parts.
public struct AWSHost: Sendable, Equatable {
  /// The labels before the service; nil if there are none.
  public let bucket: String?
  /// The rest, from the service's label on.
  public let service: String

  /// Parses a host; nil if it is not one of S3, or one of PrivateLink, which begins with the word bucket whatever the
  /// bucket is called.
  public init?(_ host: String) {
    guard !Partition.all(ofHost: host).isEmpty else { return nil }
    let labels = host.words(between: ".").map(String.init)
    guard let service = labels.lastIndex(where: { $0 == "s3" || $0.begins(with: "s3-") }),
      !labels.contains(where: { $0.begins(with: "vpce-") })
    else { return nil }
    let bucket = labels[..<service].joined(separator: ".")
    self.bucket = bucket.isEmpty ? nil : bucket
    self.service = labels[service...].joined(separator: ".")
  }

  /// Whether the text has the form of a region, such as `eu-west-1`, `us-gov-east-1`, `eusc-de-east-1`.
  public static func isRegion(_ text: String) -> Bool {
    let words = text.pieces(at: "-")
    guard BucketName.isLabel(text), words.count >= 3, let first = words.first, let last = words.last else {
      return false
    }
    return (first.utf8.count == 2 || first == "eusc") && last.utf8.allSatisfy(ASCII.isDigit)
      && words.dropLast().allSatisfy { $0.utf8.allSatisfy { (0x61...0x7A).contains($0) } }
  }
}
