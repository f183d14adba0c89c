import Glibc
import MultipartBasics
import Support

@testable import MultipartCore

extension FakeS3 {
  /// A client for its bucket, like the one of an upload.
  func client(_ world: World) throws -> S3Client {
    let credentials = Credentials(
      accessKeyID: credential.keyID, secretAccessKey: Secret(credential.secret), source: "test")
    let signer = BucketSigner(
      bucket: try EndpointResolver.resolve(bucket: "bucket", endpointURL: endpoint), now: world.now,
      credentials: CredentialKeeper(world: world) { () async throws(Failure) in credentials })
    return S3Client(signer: signer, transport: try plainTransport(), world: world)
  }
}

extension World {
  /// A world with the system's clock, in which nothing waits.
  static func hasty(_ log: @escaping @Sendable (Int, String) -> Void = { _, _ in }) -> World {
    World(
      now: { Timestamp(seconds: Int64(time(nil))) }, uptime: { .sinceBoot() }, sleep: { _ in }, random: { 0.5 },
      environment: [:], log: { level, text in log(level, text().description) })
  }
}
