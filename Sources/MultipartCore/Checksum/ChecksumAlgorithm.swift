/// What the checksum of an object in parts covers: its bytes, or the checksums of its parts.
public enum ChecksumType: String, Sendable {
  case fullObject = "FULL_OBJECT"
  case composite = "COMPOSITE"

  /// The type that a store's answer names, in any case.
  init?(awsName: String) { self.init(rawValue: awsName.uppercased()) }
}

/// A checksum of a whole object.
public struct ObjectChecksum: Sendable, Equatable {
  /// The algorithm that computes it.
  public var algorithm: ChecksumAlgorithm
  /// Whether it covers the bytes or the checksums of the parts.
  public var type: ChecksumType
  /// The value as stores write it: base64; a composite one also has the number of parts.
  public var value: String

  init(_ algorithm: ChecksumAlgorithm, _ type: ChecksumType, _ value: String) {
    (self.algorithm, self.type, self.value) = (algorithm, type, value)
  }

  /// The name of the algorithm at S3, such as `CRC64NVME`.
  public var name: String { algorithm.awsName ?? "MD5" }

  var title: String { name + (type == .composite ? " (composite)" : "") }
}

/// The checksums that S3 verifies, and MD5, which is sent as `Content-MD5` and returned in ETags.
public enum ChecksumAlgorithm: String, Sendable, Hashable, CaseIterable {
  case crc64nvme, crc32c, crc32, sha256, sha1, md5

  /// The value of `x-amz-checksum-algorithm`; MD5 has none.
  public var awsName: String? {
    switch self {
    case .crc64nvme: "CRC64NVME"
    case .crc32c: "CRC32C"
    case .crc32: "CRC32"
    case .sha256: "SHA256"
    case .sha1: "SHA1"
    case .md5: nil
    }
  }

  /// The algorithm that a store's answer names, in any case.
  public init?(awsName: String) {
    let wanted = Array(awsName.uppercased().utf8)
    let found = Self.allCases.first { $0.awsName.map { Array($0.utf8) == wanted } ?? false }
    guard let found else { return nil }
    self = found
  }

  /// The header that carries the value, in lower case.
  var headerName: String {
    self == .md5 ? "content-md5" : "x-amz-checksum-" + rawValue
  }

  /// The type of checksum for an object in parts. CRC64NVME is always FULL_OBJECT, SHA-1 and SHA-256 are always
  /// COMPOSITE. For CRC32 and CRC32C S3 computes either, and is asked for the composite one. MD5 has none.
  var typeInParts: ChecksumType? {
    switch self {
    case .crc64nvme: .fullObject
    case .crc32c, .crc32, .sha256, .sha1: .composite
    case .md5: nil
    }
  }

  var digestLength: Int {
    switch self {
    case .crc64nvme: 8
    case .crc32c, .crc32: 4
    case .sha256: 32
    case .sha1: 20
    case .md5: 16
    }
  }

  var isCRC: Bool {
    switch self {
    case .crc64nvme, .crc32c, .crc32: true
    case .sha256, .sha1, .md5: false
    }
  }
}
