/// Sends one part of an upload that was begun elsewhere: the single step of scripts.
struct PartStep: Sendable {
  private let sender: BodySender
  private let slice: PartSlice
  private let world: World

  init(job: UploadJob, slice: PartSlice, client: S3Client, world: World) throws(Failure) {
    sender = BodySender(
      client: client, job: job, asked: try job.requested(), progress: TransferProgress(total: slice.length, parts: 1))
    self.slice = slice
    self.world = world
  }

  /// Sends the part. The upload's checksum algorithm is not known here, and S3 refuses a checksum of a different one.
  func run(_ number: Int, uploadID: String) async throws(Failure) -> PartReceipt {
    let form = sender.job.checksum ?? sender.job.plainForm(sender.client)
    var stalled = false
    do throws(Failure) {
      let receipt = try await sender.job.retry.run("part \(number)", in: world) { (attempt) async throws(Failure) in
        do throws(Failure) {
          let receipt = try await sender.sendPart(
            slice, number: number, uploadID: uploadID, form: form, fresh: stalled)
          try confirm(receipt)
          return receipt
        } catch {
          stalled = error.code == .stalled
          throw error
        }
      }
      if let text = sender.job.unverified(receipt.proof) { world.log(0, text) }
      return receipt
    } catch {
      throw error.at(sender.job.place)
    }
  }

  /// Checks the slice now, as a whole upload is checked before complete, because it is unknown when the upload will be
  /// completed.
  private func confirm(_ receipt: PartReceipt) throws(Failure) {
    try slice.file.confirm(unless: { Task.isCancelled }) { () throws(Failure) in
      world.log(1, SourceTouch.notice)
      return try slice.isStill(receipt, etagMayBeMD5: sender.job.etagMayBeMD5, unless: { Task.isCancelled })
    }
  }
}
