extension Store {
  /// Begins a multipart upload and signs all its requests, so that anyone with the ticket and the file can upload it
  /// without credentials. A file is read once, so that the store accepts these bytes and no others.
  ///
  /// The ticket is valid for `lifetime`, 7 days at most, and no longer than the credentials that sign it; see `expires`
  /// of the result. If it fails, nothing is left at the store.
  public func issueTicket(
    _ file: UploadInput, to key: String, for lifetime: Duration, _ options: UploadOptions = UploadOptions()
  ) async throws(Failure) -> Ticket {
    let whole = try file.slice(offset: 0, length: 0)
    return try await TicketIssue(self, key, lifetime, options).run(.file(whole.file))
  }

  /// Issues a ticket without the file: for exactly this many bytes, or for at most this many. The store accepts any
  /// bytes.
  public func issueTicket(
    of length: Ticket.Length, to key: String, for lifetime: Duration, _ options: UploadOptions = UploadOptions()
  ) async throws(Failure) -> Ticket {
    try await TicketIssue(self, key, lifetime, options).run(.length(length))
  }

  /// Signs a ticket's requests again: those of the parts that the store lacks, or all of them. The ticket must have
  /// been issued for this store and bucket, and must not have been edited. Edits are detected with the state folder of
  /// the machine that issued it; without that folder, only `trustingEdited` signs it, whatever it contains.
  public func renewTicket(
    _ ticket: Ticket, for lifetime: Duration, all: Bool = false, trustingEdited: Bool = false
  ) async throws(Failure) -> Ticket {
    try await TicketRenewal(self, ticket, lifetime, trustsEdited: trustingEdited).run(all: all)
  }
}
