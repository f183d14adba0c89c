/// An upload that was begun by its issuer, and that several runs may fill at once, each with its share. The store's
/// list of parts is all that they share: the run that finds it complete completes the upload, and if two do, the object
/// is the same.
extension UploadMachine {
  /// The store no longer has the ticket's upload, and the object at its key, if any, is not known to be the source.
  static func ticketIsUsed(by object: Judgement, isStream: Bool) -> Failure {
    if object == .absent {
      return Failure(
        .uploadGone,
        "the store has neither the ticket's upload nor an object: the upload was aborted or revoked, or the object deleted",
        remedy: "ask for a new ticket")
    }
    // A stream cannot be compared with the object, because its bytes pass by once.
    return Failure(
      .uploadGone,
      "the store no longer has the ticket's upload, and "
        + (isStream ? "nothing shows that the object is this stream" : "the object is not this source"),
      remedy: isStream
        ? "the upload was completed or aborted: compare the object, or ask for a new ticket"
        : "the upload was completed with other bytes, or was aborted: ask for a new ticket")
  }

  /// This run's share is at the store.
  mutating func gather() -> [Action] {
    state = .gathering(attempt: 1, until: nil)
    return uploadID.map { [.listParts(uploadID: $0)] } ?? []
  }

  /// Some stores spoil the object if two runs complete it at once, so the share whose part arrived last does it, after
  /// a random delay because the same share may be running twice. If that one does not, another one does.
  mutating func gathered(_ list: PartList, _ scheduler: inout Scheduler) -> [Action] {
    if let interruption { return fail(interruption, &scheduler) }
    for receipt in list.receipts { parts.sentByOthers(receipt) }
    let missing = receipts.count { $0 == nil }
    guard missing == 0 else {
      state = .done(nil)
      return [.finish(.sharing(missing: missing))]
    }
    guard case .gathering(_, let known) = state else { return unfit() }
    let end = known ?? scheduler.now + patience(list, scheduler.roll())
    guard scheduler.now < end else { return complete() }
    state = .gathering(attempt: 1, until: end)
    scheduler.wait(.step(object: object), min(.seconds(1), end - scheduler.now))
    return []
  }

  /// How long to wait. Of shares that end in the same second the one with the highest part goes first; it may have
  /// looked too early.
  private func patience(_ list: PartList, _ roll: Double) -> Duration {
    let (share, latest) = (settings.share ?? 1..<receipts.count + 1, list.latest ?? [receipts.count])
    if latest.last.map(share.contains) ?? true { return .seconds(2 * roll) }
    return latest.contains(where: share.contains) ? .seconds(3 + 3 * roll) : .seconds(15 + 10 * roll)
  }

  mutating func gatherFailed(
    _ failure: Failure, _ attempt: Int, _ until: Duration?, _ scheduler: inout Scheduler
  ) -> [Action] {
    if let interruption { return fail(interruption, &scheduler) }
    // Another share has completed it.
    if failure.code == .uploadGone, let id = uploadID { return recover(Candidate(uploadID: id, use: .own), nil) }
    state = .gathering(attempt: attempt + 1, until: until)
    return scheduler.retry(.step(object: object), after: failure, attempt: attempt)?.notices
      ?? fail(failure, &scheduler)
  }
}
