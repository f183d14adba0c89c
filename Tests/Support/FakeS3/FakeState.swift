import Foundation
@testable package import MultipartCore

/// A key by its bytes: Swift strings compare canonically, S3 keys do not.
struct ObjectKey: Hashable, Comparable, Sendable {
  var bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  static func < (a: ObjectKey, b: ObjectKey) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}

/// The stored checksum of a part or an object.
package struct FakeStoredChecksum: Sendable, Equatable {
  package var algorithm: FakeChecksum
  package var type: FakeChecksumType
  /// The value in base64, with `-N` if it is composite.
  package var value: String
}

package struct FakePart: Sendable {
  package var number: Int
  package var size: Int
  /// The ETag without quotes.
  package var etag: String
  /// Headers of the UploadPart request.
  package var headers: HeaderList
  package var modified: Timestamp
  var checksum: [UInt8]?
  var algorithm: FakeChecksum?
  var content: Data?

  package var checksumValue: String? { algorithm == nil ? nil : checksum.map { base64($0) } }
  /// The bytes; nil if bodies are discarded.
  package var bytes: [UInt8]? { content.map { [UInt8]($0) } }
}

package struct FakeUpload: Sendable {
  package var id: String
  package var bucket: String
  package var key: String
  /// Headers of the Create request.
  package var headers: HeaderList
  package var initiated: Timestamp
  package var parts: [Int: FakePart] = [:]
  package var algorithm: FakeChecksum?
  package var checksumType: FakeChecksumType?
  var customerKey: String?
  var order: Int
}

package struct FakeObject: Sendable {
  package var bucket: String
  package var key: String
  package var size: Int
  /// The ETag without quotes.
  package var etag: String
  /// Headers of the Create or PutObject request.
  package var headers: HeaderList
  /// Headers of the Complete request.
  package var completeHeaders: HeaderList?
  package var checksum: FakeStoredChecksum?
  package var parts: [FakePart] = []
  package var versionID: String?
  /// Whether it is a delete marker of a bucket that keeps versions: there are no bytes.
  package var isDeleteMarker = false
  package var modified: Timestamp
  package var uploadID: String?
  var customerKey: String?
  var content: Data?

  /// The bytes; nil if bodies are discarded.
  package var bytes: [UInt8]? { content.map { [UInt8]($0) } }

  /// The values of x-amz-meta-* by name, in lower case and without the prefix.
  package var metadata: [String: String] {
    var out: [String: String] = [:]
    for field in headers.fields where field.name.lowercased().hasPrefix("x-amz-meta-") {
      out[String(field.name.lowercased().dropFirst(11))] = field.value
    }
    return out
  }
}

/// One request as the fake received it.
package struct LoggedRequest: Sendable {
  package var index: Int
  package var operation: FakeOperation
  package var method: String
  /// The path as it was sent, still encoded.
  package var rawPath: String
  package var rawQuery: String
  package var query: [String: String]
  package var headers: HeaderList
  package var bucket: String
  package var key: String
  package var uploadID: String?
  package var partNumber: Int?
  package var connection: Int
  package var secure: Bool
  /// When the head was received, in uptime, and when the request was finished.
  package var began: Duration
  package var ended: Duration?
  /// The number of bytes of the body that were read.
  package var bodyLength = 0
  /// The status of the answer; nil while the request runs, and for a connection that ended without an answer.
  package var status: Int?
  package var errorCode: String?
  /// The fault that was applied to it.
  package var fault: String?

  package var done: Bool { ended != nil }
  package var presigned: Bool { query["X-Amz-Signature"] != nil }
}

package struct FakeCounters: Sendable {
  package var connections = 0
  package var openConnections = 0
  package var requests = 0
  package var runningRequests = 0
  package var mostRunningRequests = 0
  /// The most UploadParts whose bodies were received at the same time.
  package var mostRunningParts = 0
  package var bodyBytes = 0
}

/// Everything that the threads of a fake store share, under one lock.
struct FakeState: Sendable {
  var options: FakeOptions
  var credentials: [String: FakeCredential]
  var faults: [ArmedFault]
  var objects: [String: [ObjectKey: FakeObject]]
  /// Replaced and deleted objects in a bucket that keeps versions, and delete markers, the newest first.
  var former: [String: [ObjectKey: [FakeObject]]] = [:]
  var uploads: [String: FakeUpload] = [:]
  /// Answers to Complete by upload id, for stores that repeat them.
  var finished: [String: HTTPAnswer] = [:]
  var log: [LoggedRequest] = []
  var counters = FakeCounters()
  var runningParts = 0
  var fixedClock: Int64?
  var clockOffset: Int64 = 0
  /// The order in which uploads were begun, including those that are gone: a marker may name one.
  var orders: [String: Int] = [:]
  private var sequence = 0

  init(options: FakeOptions, faults: [Fault]) {
    self.options = options
    self.faults = faults.map { ArmedFault($0) }
    credentials = Dictionary(options.credentials.map { ($0.keyID, $0) }) { $1 }
    objects = Dictionary(options.buckets.map { ($0, [:]) }) { a, _ in a }
  }

  var now: Timestamp { Timestamp(seconds: fixedClock ?? Int64(time(nil)) + clockOffset) }

  mutating func put(_ object: FakeObject) {
    retire(object.bucket, ObjectKey(object.key))
    objects[object.bucket, default: [:]][ObjectKey(object.key)] = object
  }

  mutating func delete(_ bucket: String, _ key: String) {
    retire(bucket, ObjectKey(key))
    objects[bucket]?[ObjectKey(key)] = nil
    guard options.versioning else { return }
    let mark = FakeObject(
      bucket: bucket, key: key, size: 0, etag: "", headers: [:], versionID: "mark-\(next())", isDeleteMarker: true,
      modified: now)
    former[bucket, default: [:]][ObjectKey(key), default: []].insert(mark, at: 0)
  }

  private mutating func retire(_ bucket: String, _ key: ObjectKey) {
    guard options.versioning, let old = objects[bucket]?[key] else { return }
    former[bucket, default: [:]][key, default: []].insert(old, at: 0)
  }

  /// The requested version; the latest if none was requested, or if it is unknown.
  func object(_ bucket: String, _ key: ObjectKey, versionID: String?) -> FakeObject? {
    let version = former[bucket]?[key]?.first { $0.versionID == versionID }
    return versionID == nil ? objects[bucket]?[key] : version ?? objects[bucket]?[key]
  }

  mutating func next() -> Int {
    sequence += 1
    return sequence
  }
}
