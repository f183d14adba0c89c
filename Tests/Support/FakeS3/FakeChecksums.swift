@testable import MultipartCore

/// S3's checksums besides Content-MD5.
package enum FakeChecksum: String, Codable, Sendable, CaseIterable {
  case crc64nvme, crc32c, crc32, sha256, sha1

  package var header: String { "x-amz-checksum-\(rawValue)" }
  package var name: String { rawValue.uppercased() }
  var element: String { "Checksum\(name)" }

  var crc: FakeCRC? {
    switch self {
    case .crc64nvme: .crc64nvme
    case .crc32c: .crc32c
    case .crc32: .crc32
    case .sha256, .sha1: nil
    }
  }

  var hash: FakeHash? {
    switch self {
    case .sha256: .sha256
    case .sha1: .sha1
    case .crc64nvme, .crc32c, .crc32: nil
    }
  }

  var length: Int { crc.map { $0.width / 8 } ?? (self == .sha256 ? 32 : 20) }

  /// The type that S3 uses when Create names none, and the types that it allows: CRC64NVME is for the full object only,
  /// the SHAs are composite only.
  var defaultType: FakeChecksumType { self == .crc64nvme ? .fullObject : .composite }

  func allows(_ type: FakeChecksumType) -> Bool {
    switch self {
    case .crc64nvme: type == .fullObject
    case .sha256, .sha1: type == .composite
    case .crc32, .crc32c: true
    }
  }

  package func of(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let running = RunningChecksum(self)
    Array(bytes).withUnsafeBytes { running.update($0) }
    return running.finish()
  }

  /// The object's checksum from those of its parts.
  func whole(_ parts: [(checksum: [UInt8], length: Int)], _ type: FakeChecksumType) -> String {
    switch type {
    case .composite:
      return base64(of(parts.flatMap(\.checksum))) + "-\(parts.count)"
    case .fullObject:
      guard let crc, let first = parts.first else { return "" }
      let value = parts.dropFirst().reduce(crc.value(first.checksum)) {
        crc.combine($0, crc.value($1.checksum), secondLength: $1.length)
      }
      return base64(crc.bytes(value))
    }
  }

  /// The one checksum that a request carries; two are an error, as at S3.
  static func sent(in headers: HeaderList) throws(FakeS3Error) -> (algorithm: FakeChecksum, value: String)? {
    let found = allCases.compactMap { algorithm in headers[algorithm.header].map { (algorithm, $0) } }
    guard found.count < 2 else {
      throw FakeS3Error(
        .invalidRequest, "Expecting a single x-amz-checksum- header. Multiple checksum types are not allowed.")
    }
    guard let (algorithm, value) = found.first else { return nil }
    return (algorithm, value)
  }
}

package enum FakeChecksumType: String, Codable, Sendable {
  case composite = "COMPOSITE"
  case fullObject = "FULL_OBJECT"
}

/// A checksum in progress over the pieces of a body.
final class RunningChecksum {
  private var register: UInt64
  private let crc: FakeCRC?
  private let hash: RunningHash?

  init(_ algorithm: FakeChecksum) {
    crc = algorithm.crc
    hash = algorithm.hash.map { RunningHash($0) }
    register = crc?.ones ?? 0
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    if let crc { register = crc.update(register, bytes) }
    hash?.update(bytes)
  }

  func finish() -> [UInt8] {
    if let crc { return crc.bytes(register ^ crc.ones) }
    return hash?.finish() ?? []
  }
}
