extension Ticket {
  /// What the store has of the ticket's upload now. With a store, its credentials sign; otherwise the ticket must not
  /// have expired.
  public func state(
    _ options: StoreOptions = StoreOptions(), with store: Store? = nil
  ) async throws(Failure) -> TicketState {
    let steps = try steps(options, store)
    do throws(Failure) {
      return TicketState(self, try await steps.listing())
    } catch {
      guard error.code == .uploadGone else { throw error.at(place) }
      return try await steps.completedBefore(earlierCompletion).map { TicketState(self, completed: $0) }
        ?? TicketState(.gone)
    }
  }

  /// Completes the upload from the parts that the store has, if these are everything that the ticket is for. Only the
  /// run that has read a stream to its end knows whether its parts are complete: `asItIs` publishes them nevertheless,
  /// after calling `publishing` with what will be published. With a store, its credentials sign, if the ticket is known
  /// to be the one that was issued, or with `trustingEdited`.
  @discardableResult
  public func finish(
    _ options: StoreOptions = StoreOptions(), with store: Store? = nil, trustingEdited: Bool = false,
    asItIs: Bool = false, publishing: (TicketState) -> Void = { _ in }
  ) async throws(Failure) -> UploadedObject {
    try store?.require(self, trustsEdited: trustingEdited)
    let steps = try steps(options, store)
    do throws(Failure) {
      let listing = try await steps.listing()
      let state = TicketState(self, listing)
      if let refusal = state.refusal(self, asItIs ? .isAccepted : .isUnknown) {
        // Some stores still list the parts for a while after the upload was completed.
        guard !listing.parts.isEmpty,
          let result = try await steps.completedBefore(from: listing.parts.map { UploadedPart($0) }),
          result.size <= mostBytes
        else { throw refusal }
        return try await steps.confirm(result, asked)
      }
      if expectedParts == nil { publishing(state) }
      let usable = Set(state.partsAtStore)
      let receipts = listing.parts.filter { usable.contains($0.number) }.map { receipt(of: $0) }
      let failure: Failure
      do throws(Failure) {
        return try await steps.complete(receipts, since: .upload(created), asked: asked)
      } catch {
        failure = error
      }
      throw await explained(failure, completing: receipts) { () async throws(Failure) in try await steps.listing() }
    } catch {
      guard error.code == .uploadGone else { throw error.at(place) }
      guard let result = try await steps.completedBefore(earlierCompletion) else { throw Self.gone(error).at(place) }
      let state = TicketState(self, completed: result)
      if state.isTooLong { throw state.tooLong(self, "the object has").at(place) }
      do throws(Failure) {
        return try await steps.confirm(result, asked)
      } catch {
        throw error.at(place)
      }
    }
  }

  /// What a ticket's upload was when the ticket was revoked.
  public enum Revocation: Sendable, Equatable {
    /// It had not ended, and has been aborted.
    case aborted(MultipartUpload.AbortOutcome)
    /// It had been completed; the object stays.
    case wasCompleted
  }

  /// Aborts the upload, and returns once the store lists none of its parts: then the ticket is worthless. A store signs
  /// as for `finish`.
  @discardableResult
  public func revoke(
    _ options: StoreOptions = StoreOptions(), with store: Store? = nil, trustingEdited: Bool = false
  ) async throws(Failure) -> Revocation {
    try store?.require(self, trustsEdited: trustingEdited)
    let steps = try steps(options, store)
    // Some stores answer the abort of a completed upload as if it had been open.
    let before = try? await state(options, with: store).standing
    do throws(Failure) {
      let end = try await steps.abort()
      return before == .completed ? .wasCompleted : .aborted(end)
    } catch {
      throw error.at(place)
    }
  }

  /// The steps, signed by the ticket's own requests or by a store.
  private func steps(_ options: StoreOptions, _ store: Store?) throws(Failure) -> UploadSteps {
    if let store {
      try store.requireAddress(of: self)
      return UploadSteps(address(store.address.common), uploadID: uploadID, store.client, store.retry)
    }
    try options.refuseEdited(self)
    let link = try TicketLink(self, options)
    try link.requireValid()
    return UploadSteps(address(), uploadID: uploadID, link.client, link.retry)
  }

  /// What would show that an object is the ticket's.
  private var earlierCompletion: EarlierCompletion {
    guard case .exactly(let size) = length else {
      return EarlierCompletion(expected: [], begun: created) { object in
        object.multipartCount.map { ($0, "it was made of parts, after the ticket was issued") }
      }
    }
    guard let plan = try? UploadPlan(inParts: size, of: partSize),
      let expected = try? Expectation(
        receipts: (1...plan.partCount).map { signedReceipt(of: $0, size: plan.range(of: $0).length) })
    else { return EarlierCompletion(expected: []) }
    return EarlierCompletion(expected: [expected], begun: created) { object in
      guard object.multipartCount == plan.partCount, expected.etag == nil else { return nil }
      return (plan.partCount, "its size, parts and time are those of the ticket's upload")
    }
  }
}

extension ObjectInfo {
  /// The number of parts in its ETag. An object without such an ETag may come from another client's single request.
  fileprivate var multipartCount: Int? {
    guard let parts = parsedETag?.parts else { return nil }
    return max(1, min(parts, S3Limits.mostParts))
  }
}
