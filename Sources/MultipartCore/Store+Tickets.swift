extension Store {
  /// Begins a multipart upload and signs all its requests, so that whoever holds the ticket and the file can upload it
  /// without credentials. A file is read once: the store then takes these bytes and no others.
  ///
  /// The ticket is valid for `lifetime`, 7 days at most, and no longer than the credentials that sign it; `expires` of
  /// the result tells. Nothing is left behind if it fails.
  public func issueTicket(
    _ file: UploadInput, to key: String, for lifetime: Duration, _ options: UploadOptions = UploadOptions()
  ) async throws(Failure) -> Ticket {
    let whole = try file.slice(offset: 0, length: 0)
    return try await TicketIssue(self, key, lifetime, options).run(.file(whole.file))
  }

  /// The same without the file: for exactly so many bytes, or for at most so many. The store takes any bytes.
  public func issueTicket(
    of length: Ticket.Length, to key: String, for lifetime: Duration, _ options: UploadOptions = UploadOptions()
  ) async throws(Failure) -> Ticket {
    try await TicketIssue(self, key, lifetime, options).run(.length(length))
  }

  /// Signs a ticket's requests again: for the parts that the store lacks, or for all. The ticket must have been issued for
  /// this store and bucket, and must be what was issued: one that somebody has edited is refused. That can be seen where
  /// the state folder is that of the issuer; elsewhere only `trustingEdited` signs it, whatever it says.
  public func renewTicket(
    _ ticket: Ticket, for lifetime: Duration, all: Bool = false, trustingEdited: Bool = false
  ) async throws(Failure) -> Ticket {
    try await TicketRenewal(self, ticket, lifetime, trustsEdited: trustingEdited).run(all: all)
  }
}
