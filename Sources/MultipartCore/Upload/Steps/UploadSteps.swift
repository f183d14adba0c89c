import MultipartBasics

/// The single steps of an existing upload, signed with a store's credentials or by a ticket.
struct UploadSteps: Sendable {
  let address: ObjectAddress
  let uploadID: String
  let client: S3Client
  let retry: RetryPolicy

  init(_ address: ObjectAddress, uploadID: String, _ client: S3Client, _ retry: RetryPolicy) {
    (self.address, self.uploadID, self.client, self.retry) = (address, uploadID, client, retry)
  }

  var place: Place { address.place(uploadID: uploadID) }

  private var list: ListParts { ListParts(address, uploadID: uploadID) }

  /// All parts of the upload. An object completed from fewer than the store has would be cut short.
  func listing() async throws(Failure) -> S3Client.PartListing {
    let listing = try await client.allParts(list, retrying: retry)
    guard listing.isComplete else {
      throw Failure(.server, "the store's list of parts has no end, or an entry that cannot be read").at(place)
    }
    return listing
  }

  /// Completes the upload, which was begun `since` then by the store's clock. The object's settings are confirmed as far as `asked` names
  /// them.
  func complete(
    _ receipts: [PartReceipt], since: Freshness.Since?, conditions: WriteConditions = WriteConditions(),
    asked: RequestedSettings? = nil
  ) async throws(Failure) -> UploadedObject {
    let finisher = Finisher(client: client, address, conditions: conditions, requested: asked)
    finisher.begin(since)
    return try await step(finisher, asked).run(receipts, uploadID: uploadID)
  }

  /// The result if the upload, which is gone, was completed before.
  func completedBefore(_ earlier: EarlierCompletion) async throws(Failure) -> UploadedObject? {
    guard case .exists(let object) = try await client.perform(HeadObject(address), retrying: retry) else { return nil }
    return earlier.result(object)
  }

  /// The result if the object is made of exactly these parts. The permission to complete does not include HEAD, without
  /// which nothing can show it.
  func completedBefore(from parts: [UploadedPart]) async throws(Failure) -> UploadedObject? {
    do throws(Failure) {
      return try await completedBefore(EarlierCompletion(parts))
    } catch {
      guard error.code == .credentials || error.code == .refused else { throw error }
      return nil
    }
  }

  /// Checks an object that exists and is proven; fails if it does not have the settings.
  func confirm(_ result: UploadedObject, _ asked: RequestedSettings) async throws(Failure) -> UploadedObject {
    try await step(Finisher(client: client, address), asked).inspected(result)
  }

  /// A step for an object of which no setting has been confirmed before, so each is read in full.
  private func step(_ finisher: Finisher, _ asked: RequestedSettings?) -> CompleteStep {
    let check = asked.map {
      SettingsCheck(client: client, address: address, asked: $0, asksAll: true, encryptionIsConfirmed: false)
    }
    return CompleteStep(finisher: finisher, check: check, retry: retry, world: client.world)
  }

  /// Aborts the upload and checks that nothing is left of it.
  @discardableResult
  func abort() async throws(Failure) -> MultipartUpload.AbortOutcome {
    var cleanup = Cleanup(uploadID)
    var next: Cleanup.Next? = .abort
    while let step = next {
      switch step {
      case .abort:
        next = cleanup.aborted(await client.failureOfAbort(AbortMultipartUpload(address, uploadID: uploadID)))
      case .list:
        do throws(Failure) {
          next = cleanup.listed(isThere: try await client.hasUpload(list))
        } catch {
          next = cleanup.listFailed(error)
        }
      case .again(let failure, let attempt):
        let world = client.world
        guard let wait = retry.wait(after: failure, attempt: attempt, dice: world.random()) else { throw failure }
        world.log(
          1, "abort: \(failure.message); try \(attempt + 1) of \(retry.tries) in \(wait.milliseconds) ms")
        guard (try? await world.sleep(wait)) != nil else { throw failure }
        next = cleanup.resume()
      case .gone: next = nil
      }
    }
    return cleanup.outcome
  }
}
