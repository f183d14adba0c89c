/// Whether a ticket's parts may become its object.
extension TicketState {
  /// Who says that they are the whole.
  package enum End: Sendable {
    /// The run that sends them: it has read its source to the end.
    case wasRead
    /// Nobody. With the ticket of a size all parts show that they are the whole; with one of at most a size nothing does.
    case isUnknown
    /// Whoever finishes it: it is to be published as it is.
    case isAccepted
  }

  /// Nil if they may. All that complete a ticket's upload ask here: a run that uploads, and `finish`; `show` says the same.
  package func refusal(_ ticket: Ticket, _ end: End) -> Failure? {
    if isTooLong { return tooLong(ticket, "the parts at the store have") }
    guard !partsAtStore.isEmpty else {
      return Failure(.dataMismatch, "the store has no part of the ticket's upload")
    }
    let missing = self.missing ?? PartNumbers.missing(in: partsAtStore)
    guard missing.isEmpty else {
      return Failure(
        .dataMismatch,
        "the store does not have \(PartNumbers.text(missing)) of 1-\(ticket.expectedParts ?? partsAtStore.last ?? 0)",
        remedy: "upload what is missing with the ticket")
    }
    guard ticket.expectedParts == nil, case .isUnknown = end else { return nil }
    return Failure(
      .dataMismatch,
      "the store has \(bytes) bytes in \(PartNumbers.count(partsAtStore.count)) of a stream, and nobody has said that they are the whole",
      remedy: "upload the stream to its end with the ticket, or publish them: \(.asItIs)")
  }

  func tooLong(_ ticket: Ticket, _ what: Wording) -> Failure {
    Failure(
      .dataMismatch, "\(what) \(bytes) bytes, and the ticket is for at most \(ticket.mostBytes)",
      remedy: "whoever has the ticket has sent more than it is for: revoke it, and issue another one")
  }
}

extension Ticket {
  var mostBytes: Int64 {
    switch length {
    case .exactly(let size), .upTo(let size): size
    }
  }

  /// How many parts the object must have; nil if its length is not settled.
  var expectedParts: Int? {
    if case .exactly = length { partCount } else { nil }
  }

  /// The store no longer has the upload, whichever code it says that with.
  static func isGone(_ failure: Failure) -> Bool {
    failure.code == .uploadGone || failure.status == 404 && failure.s3Code != "NoSuchBucket"
  }

  static func gone(_ failure: Failure) -> Failure {
    var failure = failure
    failure.code = .uploadGone
    failure.message = "the store no longer has the ticket's upload: it was completed or revoked"
    failure.remedy = "issue a new ticket"
    return failure
  }

  /// InvalidPart at complete means that a part is not there, and at some stores, such as Ceph, also that the upload has a
  /// part which the object leaves out: one of a longer stream that failed. A ticket can send parts and take none away.
  func explained(
    _ failure: Failure, completing receipts: [PartReceipt], of listing: () async throws(Failure) -> S3Client.PartListing
  ) async -> Failure {
    guard failure.s3Code == "InvalidPart" else { return failure }
    var explained = failure
    explained.remedy = "a part is not at the store any more as it was sent: upload with the ticket once more"
    guard let parts = try? await listing().parts else { return explained }
    let there = Dictionary(parts.map { ($0.number, ETag($0.etag)) }) { _, last in last }
    let named = Set(receipts.map(\.number))
    let left = parts.map(\.number).filter { !named.contains($0) }
    guard !left.isEmpty, receipts.allSatisfy({ there[$0.number] == .some(ETag($0.etag)) }) else { return explained }
    explained.message =
      "the upload still has \(PartNumbers.text(left)) of a longer stream that failed, which this store does not leave out, "
      + "and a ticket can remove no part"
    explained.remedy = "ask for a new ticket: with this one only a stream that is at least as long can be uploaded"
    explained.isSettled = true
    return explained
  }
}
