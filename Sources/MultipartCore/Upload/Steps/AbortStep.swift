/// Aborts an upload and checks that nothing is left of it.
package struct AbortStep: Sendable {
  private let client: S3Client
  private let retry: RetryPolicy
  private let world: World

  package init(client: S3Client, retry: RetryPolicy, world: World) {
    self.client = client
    self.retry = retry
    self.world = world
  }

  package func run(
    _ address: ObjectAddress, uploadID: String
  ) async throws(Failure) -> AbortMultipartUpload.Output {
    let abort = AbortMultipartUpload(address, uploadID: uploadID)
    let list = ListParts(address, uploadID: uploadID)
    var cleanup = Cleanup(uploadID)
    var next: Cleanup.Next? = .abort
    while let step = next {
      switch step {
      case .abort: next = cleanup.aborted(await client.failureOfAbort(abort))
      case .list:
        do throws(Failure) {
          next = cleanup.listed(isThere: try await client.hasUpload(list))
        } catch {
          next = cleanup.listFailed(error)
        }
      case .again(let failure, let attempt):
        guard let wait = retry.wait(after: failure, attempt: attempt, dice: world.random()) else { throw failure }
        world.log(
          1, "abort: \(failure.message); try \(attempt + 1) of \(retry.tries) in \(wait.milliseconds) ms")
        guard (try? await world.sleep(wait)) != nil else { throw failure }
        next = cleanup.resume()
      case .gone: next = nil
      }
    }
    return cleanup.wasThere ? .aborted : .wasGone
  }
}
