/// Ends an upload and sees that nothing is left of it.
package struct AbortStep: Sendable {
  private let client: S3Client
  private let common: CommonHeaders
  private let retry: RetryPolicy
  private let world: World

  package init(client: S3Client, common: CommonHeaders, retry: RetryPolicy, world: World) {
    self.client = client
    self.common = common
    self.retry = retry
    self.world = world
  }

  /// A part that was under way when the abort came can appear after it, so the abort is repeated until the list says
  /// that the upload is gone. Of a completed one some stores go on listing the parts.
  package func run(bucket: String, key: String, uploadID: String) async throws(Failure) -> AbortMultipartUpload.Output {
    let abort = AbortMultipartUpload(bucket: bucket, key: key, uploadID: uploadID, common: common)
    return try await retry.run("abort", in: world) { (attempt) async throws(Failure) in
      let outcome = try await client.perform(abort)
      if outcome == .aborted, try await !isGone(abort) {
        throw Failure(.server, "the upload is still there after its abort")
      }
      return outcome
    }
  }

  private func isGone(_ abort: AbortMultipartUpload) async throws(Failure) -> Bool {
    let list = ListParts(bucket: abort.bucket, key: abort.key, uploadID: abort.uploadID, common: common)
    do throws(Failure) {
      return try await client.perform(list).parts.isEmpty
    } catch {
      // Not allowed to list: the abort's own answer is all there is to know.
      if error.code == .uploadGone || error.status == 404 || error.code == .credentials { return true }
      throw error
    }
  }
}
