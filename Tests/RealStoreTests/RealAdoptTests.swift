import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

extension RealStores {
  /// An upload at the key that another machine with the same keys has begun.
  @Suite(.serialized) struct UploadsOfOthers {
    private static let part = 5 << 20

    /// Begins an upload with other settings and sends the file's first part to it.
    private func plant(_ run: Run, _ source: Source, _ options: [String]) async throws -> String {
      let theirs = try S3upBinary()
      func step(_ words: [String]) async throws -> ChildProcess.Result {
        let result = try await theirs.start(words, environment: run.environment).wait(timeout: .seconds(240))
        #expect(result.status == 0, "\(result.errors)")
        return result
      }
      let id = try #require(try await step(["create", run.url(run.key())] + options).lines.first)
      _ = try await step([
        "part", source.path, run.url(run.key()), "--upload-id", id, "--part", "1", "--length", "\(Self.part)",
      ])
      return id
    }

    @Test("A plain put adopts no upload of other clients, and names it", arguments: Store.once)
    func aPlainPutAdoptsNoneAndNamesIt(_ store: Store) async throws {
      let run = try Run(store, "planted")
      let source = try await run.file("source", 11 << 20)
      let id = try await plant(
        run, source, ["--metadata", "planted=yes", "--content-type", "text/html", "--cache-control", "no-store"])
      let (result, event) = try await run.put(source.path, run.key(), ["--part-size", "5M"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.bytes_resumed == 0)
      #expect(result.errors.contains("s3up abort") && result.errors.contains(id), "\(result.errors)")
      let found = try await store.get(run.key())
      run.expect(found, is: source)
      #expect(found.headers["x-amz-meta-planted"] == nil)
      #expect(found.headers["content-type"] != "text/html")
      #expect(try await store.unfinished(run.key()).contains(id))
      #expect(try await store.parts(run.key(), id) == [1])
      _ = try await run("abort", run.url(run.key()), "--upload-id", id)
    }

    /// A second instead of the minute: the store's lists and clock must be enough to show that no client is sending.
    @Test("An abandoned upload is adopted on request", arguments: Store.all.filter { $0.scheme == .http })
    func anAbandonedOneIsAdoptedOnRequest(_ store: Store) async throws {
      let run = try Run(store, "adopted")
      let source = try await run.file("source", 11 << 20)
      let id = try await plant(run, source, [])
      let world = World(
        now: { Timestamp(seconds: Int64(time(nil))) }, uptime: { .sinceBoot() },
        sleep: { try await Task.sleep(for: $0) }, random: { 0.5 }, environment: [:])
      let bucket = try EndpointResolver.resolve(bucket: store.bucket, region: store.region, endpointURL: store.endpoint)
      let keys = Credentials(
        accessKeyID: store.accessKey, secretAccessKey: Secret(store.secretKey), source: "test")
      let signer = BucketSigner(
        bucket: bucket, now: world.now,
        credentials: CredentialKeeper(world: world) { () async throws(Failure) in keys })
      let transport = try CurlTransport(options: TransportOptions(), loops: 1)
      var job = UploadJob(file: try SourceFile(FilePath(source.path)), to: ObjectAddress(store.bucket, run.key()))
      job.partSize = Int64(Self.part)
      job.resume = .adopt
      job.quietTime = .seconds(2)
      let uploader = try Uploader(
        job: job, client: S3Client(signer: signer, transport: transport, world: world), world: world)
      let result = try await uploader.run()
      #expect(result.bytesResumed == Int64(Self.part))
      try await run.expect(run.key(), is: source)
      #expect(try await !store.unfinished(run.key()).contains(id))
    }
  }
}
