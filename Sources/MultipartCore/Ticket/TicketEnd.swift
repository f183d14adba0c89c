import MultipartBasics

/// Decides whether a ticket's parts may become its object.
extension TicketState {
  /// Who confirms that the parts are complete.
  enum End: Sendable {
    /// The run that sends them: it has read its source to the end.
    case wasRead
    /// No one. For a ticket of a fixed size, the presence of all parts shows it; for one with a maximum size nothing
    /// does.
    case isUnknown
    /// The user who finishes it accepts the parts as they are.
    case isAccepted
  }

  /// Why the parts may not become the object; nil if they may. Used by everything that completes a ticket's upload: a
  /// run that uploads, and `finish`; `show` reports the same.
  func refusal(_ ticket: Ticket, _ end: End) -> Failure? {
    if isTooLong { return tooLong(ticket, "the parts at the store have") }
    guard !partsAtStore.isEmpty else {
      return Failure(
        .dataMismatch, "the store has no part of the ticket's upload",
        remedy: "nothing has been uploaded with this ticket yet, or not completely: upload with it first")
    }
    let missing = self.missing ?? PartNumbers.missing(in: partsAtStore)
    guard missing.isEmpty else {
      return Failure(
        .dataMismatch,
        "the store does not have \(PartNumbers.text(missing)) of 1-\(ticket.expectedParts ?? partsAtStore.last ?? 0)",
        remedy: "upload the missing parts with the ticket")
    }
    guard ticket.expectedParts == nil, case .isUnknown = end else { return nil }
    return Failure(
      .dataMismatch,
      "the store has \(bytes) bytes in \(PartNumbers.count(partsAtStore.count)) of a stream, and its end has not been confirmed",
      remedy: "upload the stream to its end with the ticket, or publish them: \(.asItIs)")
  }

  func tooLong(_ ticket: Ticket, _ what: Wording) -> Failure {
    Failure(
      .dataMismatch, "\(what) \(bytes) bytes, and the ticket allows at most \(ticket.mostBytes)",
      remedy: "the ticket's holder has sent more than it allows: revoke it, and issue a new one")
  }
}

extension Ticket {
  var mostBytes: Int64 {
    switch length {
    case .exactly(let size), .upTo(let size): size
    }
  }

  /// How many parts the object must have; nil if its length is not fixed.
  var expectedParts: Int? {
    if case .exactly = length { partCount } else { nil }
  }

  static func gone(_ failure: Failure) -> Failure {
    var failure = failure
    failure.code = .uploadGone
    failure.message = "the store no longer has the ticket's upload: it was completed or revoked"
    failure.remedy = "issue a new ticket"
    return failure
  }

  /// Explains a failure of complete. InvalidPart means that a part is missing, and at some stores, such as Ceph, also
  /// that the upload has a part that the object leaves out: one of a longer stream that failed. A ticket can send parts
  /// but not remove any.
  func explained(
    _ failure: Failure, completing receipts: [PartReceipt], of listing: () async throws(Failure) -> S3Client.PartListing
  ) async -> Failure {
    guard failure.s3Code == "InvalidPart" else { return failure }
    var explained = failure
    explained.remedy = "the store no longer has a part as it was sent: upload with the ticket once more"
    guard let parts = try? await listing().parts else { return explained }
    let there = Dictionary(parts.map { ($0.number, ETag($0.etag)) }) { _, last in last }
    let named = Set(receipts.map(\.number))
    let left = parts.map(\.number).filter { !named.contains($0) }
    guard !left.isEmpty, receipts.allSatisfy({ there[$0.number] == .some(ETag($0.etag)) }) else { return explained }
    explained.message =
      "the upload still has \(PartNumbers.text(left)) of a longer stream that failed, which this store does not leave out, "
      + "and a ticket cannot remove a part"
    explained.remedy = "ask for a new ticket: with this one only a stream that is at least as long can be uploaded"
    explained.isSettled = true
    return explained
  }
}
