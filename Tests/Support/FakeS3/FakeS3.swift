import Foundation
import MultipartBasics
@testable package import MultipartCore

/// An S3 server inside the test process, on 127.0.0.1 with ports that the kernel chooses, plain and TLS.
///
/// It behaves like AWS S3 where a client could be wrong (signatures, digests, conditions, pages); `FakeOptions` makes it
/// another kind of store, and a script of `Fault` values makes it misbehave.
///
///     let fake = try FakeS3(faults: [Fault(.init(.uploadPart, nth: 2), .loseAnswer)])
///     // upload to fake.endpoint, bucket "bucket", with fake.credential or fake.environment()
///     #expect(fake.object("key")?.bytes == source)
///
/// It stops, and joins its threads, with its last reference.
package final class FakeS3: Sendable {
  package let directory: TemporaryDirectory
  /// The authority that clients must trust, as PEM.
  package let caFile: String
  private let server: FakeServer
  private let stopped = Guarded(false)

  package init(_ options: FakeOptions = FakeOptions(), faults: [Fault] = []) throws {
    directory = try TemporaryDirectory("fake-s3")
    caFile = directory.path("ca.pem")
    server = try FakeServer(options: options, faults: faults, caFile: caFile)
  }

  deinit { stop() }

  /// Ends all connections and waits for their threads.
  package func stop() {
    let first = stopped.with { stopped in
      defer { stopped = true }
      return !stopped
    }
    if first { server.stop() }
  }

  /// Ends all existing connections; new ones are accepted.
  package func dropConnections() { server.dropConnections() }

  /// Ends the connection of one request.
  package func cut(connectionOf request: LoggedRequest) { server.cut(request.connection) }

  package var port: Int { server.port }
  package var tlsPort: Int { server.tlsPort }
  /// The SSL_CTX of its TLS, for tests that use their own server side or ask how often sessions were resumed.
  package var tlsContext: OpaquePointer { server.tls.context }
  package var endpoint: String { "http://127.0.0.1:\(port)" }
  package var tlsEndpoint: String { "https://localhost:\(tlsPort)" }
  /// The host `<bucket>.s3.test` with the port, for clients that resolve it to 127.0.0.1 by themselves.
  package func virtualHost(_ bucket: String = "bucket", tls: Bool = false) -> String {
    "\(bucket).\(server.hostSuffix):\(tls ? tlsPort : port)"
  }

  /// The first of the initial key pairs.
  package var credential: FakeCredential { options.credentials.first ?? .standard }

  /// The environment that a program needs to use this store, and nothing that leads elsewhere.
  package func environment(tls: Bool = false) -> [String: String] {
    var out = [
      "AWS_ACCESS_KEY_ID": credential.keyID, "AWS_SECRET_ACCESS_KEY": credential.secret,
      "AWS_REGION": options.region, "AWS_ENDPOINT_URL_S3": tls ? tlsEndpoint : endpoint,
      "AWS_EC2_METADATA_DISABLED": "true",
    ]
    out["AWS_SESSION_TOKEN"] = credential.sessionToken
    if tls { out["AWS_CA_BUNDLE"] = caFile }
    return out
  }

  // MARK: Settings of the test

  package var options: FakeOptions {
    get { server.state.with { $0.options } }
    set { server.state.with { $0.options = newValue } }
  }

  /// Replaces the script; its counters start again.
  package func setFaults(_ faults: [Fault]) {
    server.state.with { $0.faults = faults.map { ArmedFault($0) } }
  }

  package func addFault(_ fault: Fault) {
    server.state.with { $0.faults.append(ArmedFault(fault)) }
  }

  /// Replaces all key pairs.
  package func setCredentials(_ credentials: [FakeCredential]) {
    server.state.with { state in
      state.credentials = Dictionary(credentials.map { ($0.keyID, $0) }) { $1 }
    }
  }

  /// Adds a key pair.
  package func addCredential(_ credential: FakeCredential) {
    server.state.with { $0.credentials[credential.keyID] = credential }
  }

  /// Stops the server's clock at `moment`; nil lets it follow the system's again.
  package func setClock(_ moment: Timestamp?) {
    server.state.with { $0.fixedClock = moment?.seconds }
  }

  /// Sets the server's clock this many seconds ahead of the system's.
  package func setClockOffset(_ seconds: Int64) {
    server.state.with { $0.clockOffset = seconds }
  }

  package var now: Timestamp { server.state.with { $0.now } }

  /// Puts an object into the store without a request.
  package func putObject(_ key: String, bucket: String = "bucket", bytes: [UInt8], headers: HeaderList = [:]) {
    server.state.with { state in
      let object = FakeObject(
        bucket: bucket, key: key, size: bytes.count, etag: hex(FakeHash.md5.of(bytes)), headers: headers,
        checksum: FakeStoredChecksum(
          algorithm: .crc64nvme, type: .fullObject, value: base64(FakeChecksum.crc64nvme.of(bytes))),
        versionID: state.options.versioning ? "version-\(state.next())" : nil, modified: state.now, content: Data(bytes)
      )
      state.put(object)
    }
  }

  /// Puts an object as another program could have made it: in parts of these sizes or in one piece, with or without a
  /// checksum, with the suffix that a store appends to it, and with this ETag instead of the computed one.
  package func putObject(
    _ key: String, bytes: [UInt8], parts sizes: [Int], checksum: FakeChecksum? = nil, _ type: FakeChecksumType? = nil,
    suffix: String = "", etag: String? = nil, headers: HeaderList = [:]
  ) {
    var parts: [FakePart] = []
    var (start, digests): (Int, [UInt8]) = (0, [])
    for size in sizes {
      let piece = bytes[start..<start + size]
      start += size
      let digest = FakeHash.md5.of(piece)
      digests += digest
      parts.append(
        FakePart(
          number: parts.count + 1, size: size, etag: hex(digest), headers: [:], modified: now,
          checksum: checksum?.of(piece), algorithm: checksum, content: nil))
    }
    let own =
      parts.isEmpty
      ? hex(FakeHash.md5.of(bytes))
      : hex(FakeHash.md5.of(digests)) + "-\(parts.count)"
    let stored = checksum.map { algorithm in
      let type = type ?? (parts.isEmpty ? .fullObject : algorithm.defaultType)
      let value =
        parts.isEmpty
        ? base64(algorithm.of(bytes)) : algorithm.whole(parts.map { ($0.checksum ?? [], $0.size) }, type)
      return FakeStoredChecksum(algorithm: algorithm, type: type, value: value + suffix)
    }
    server.state.with { state in
      state.put(
        FakeObject(
          bucket: "bucket", key: key, size: bytes.count, etag: etag ?? own, headers: headers, checksum: stored,
          parts: parts, modified: state.now, content: Data(bytes)))
    }
  }

  package func removeObject(_ key: String, bucket: String = "bucket") {
    server.state.with { $0.delete(bucket, key) }
  }

  /// Begins an upload this many seconds ago, without a request.
  @discardableResult
  package func beginUpload(_ key: String, bucket: String = "bucket", ago: Int64 = 0) -> String {
    server.state.with { state in
      let order = state.next()
      let id = "begun-\(order)"
      state.uploads[id] = FakeUpload(
        id: id, bucket: bucket, key: key, headers: [:], initiated: Timestamp(seconds: state.now.seconds - ago),
        order: order)
      state.orders[id] = order
      return id
    }
  }

  /// Removes an upload, as a lifecycle rule does.
  package func dropUpload(_ id: String) {
    server.state.with { $0.uploads[id] = nil }
  }

  /// Removes a part, as if the store lost it.
  package func dropPart(_ number: Int, of id: String) {
    server.state.with { $0.uploads[id]?.parts[number] = nil }
  }

  // MARK: Observations of the test

  package var requests: [LoggedRequest] { server.state.with { $0.log } }
  package var counters: FakeCounters { server.state.with { $0.counters } }

  package func requests(_ operation: FakeOperation) -> [LoggedRequest] {
    requests.filter { $0.operation == operation }
  }

  /// The unfinished uploads in the order of their start.
  package var unfinishedUploads: [FakeUpload] {
    server.state.with { $0.uploads.values.sorted { $0.order < $1.order } }
  }

  package func object(_ key: String, bucket: String = "bucket") -> FakeObject? {
    server.state.with { $0.objects[bucket]?[ObjectKey(key)] }
  }

  package var objectCount: Int { server.state.with { $0.objects.values.reduce(0) { $0 + $1.count } } }

  /// Waits until the log satisfies `condition`; false if it does not within `timeout`.
  package func wait(
    timeout: Duration = .seconds(600), until condition: @Sendable ([LoggedRequest]) -> Bool
  ) async -> Bool {
    let end = ContinuousClock.now + timeout
    while !condition(requests) {
      guard ContinuousClock.now < end else { return false }
      try? await Task.sleep(for: .milliseconds(3))
    }
    return true
  }
}
