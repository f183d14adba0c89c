import MultipartBasics

/// Finds the ticket's request for each operation. Nothing is signed here, and nothing but a ticket is needed.
struct TicketSigner: RequestSigner {
  private let ticket: Ticket
  private let now: @Sendable () -> Timestamp

  init(_ ticket: Ticket, now: @escaping @Sendable () -> Timestamp) {
    self.ticket = ticket
    self.now = now
  }

  var origin: String { ticket.origin }
  var signsPayload: Bool { false }
  var signsEverything: Bool { false }
  var waitsForCredentials: Bool { false }
  var clockNote: String? { nil }
  func takeClockNote() -> String? { nil }
  func renew(after generation: Int, cause: Failure) async throws(Failure) -> Bool { false }

  func signed(_ wanted: S3Request) async throws(Failure) -> Request {
    guard let call = call(for: wanted) else {
      throw Failure(.refused, "the ticket has no request for \(wanted.operation)").at(wanted.place)
    }
    guard let query = call.query else {
      throw Failure(
        .credentials, "the ticket was renewed without this part, which was at the store then",
        remedy: "its issuer can sign all parts: \(run: .renewTicket(all: true))"
      ).at(wanted.place)
    }
    var request = wanted.wire(ticket.url + "?" + query)
    request.headers = call.headers
    for field in wanted.headers.fields {
      if let signed = call.headers[field.name] {
        guard wanted.operation != UploadPart.name || signed.utf8.elementsEqual(field.value.utf8) else {
          throw Self.another(wanted.place)
        }
      } else if !field.name.lowercased().begins(with: "x-amz-") {
        // S3 refuses a header of its own that is not signed.
        request.headers.add(field.name, field.value)
      }
    }
    request.expires = ticket.expires
    return request
  }

  /// The file is not the one that the ticket was issued for.
  static func another(_ place: Place) -> Failure {
    var failure = Failure(
      .dataMismatch, "the file is not the one that the ticket is for: this part has another checksum",
      remedy: "upload the file that the ticket was issued for, unchanged"
    ).at(place)
    // A retry would send the same bytes.
    failure.isSettled = true
    return failure
  }

  private func call(for wanted: S3Request) -> Ticket.Call? {
    switch wanted.operation {
    case UploadPart.name:
      wanted.place.part.flatMap { ticket.parts.indices.contains($0 - 1) ? ticket.parts[$0 - 1] : nil }
    case ListParts.name: ticket.lists[page(wanted)]
    case CompleteMultipartUpload.name: ticket.complete
    case AbortMultipartUpload.name: ticket.abort
    case HeadObject.name: ticket.head
    default: nil
    }
  }

  /// The page of the list of parts to request. Only pages that begin after part 0, 1,000, 2,000 … were signed, so this
  /// is the last one that leaves out no wanted part. The list always advances: a full page has a thousand parts, so it
  /// ends where the next page begins, or later.
  private func page(_ wanted: S3Request) -> Int {
    let marker = wanted.query.first { $0.name == "part-number-marker" }?.value.flatMap { Int($0) } ?? 0
    return min(max(0, marker / Ticket.pageLength), ticket.lists.count - 1)
  }

  /// A refusal is final: only whoever issued the ticket can correct it.
  func learn(from answer: Response, to request: Request, now: Timestamp) -> Lesson? {
    guard let refusal = PresignedRefusal(answer) else { return nil }
    let (code, requestID) = (refusal.code, refusal.requestID)
    if refusal.saysExpired || now >= ticket.expires {
      var failure = Self.expired(at: ticket.expires, status: answer.status, s3Code: code, requestID: requestID)
      if refusal.isOfSigner(before: ticket.expires, now) {
        failure.message = "the credentials that signed the ticket have expired"
      }
      return .refusal(failure)
    }
    return .refusal(
      Failure(
        .credentials, "the store refuses this request of the ticket", status: answer.status, s3Code: code,
        requestID: requestID,
        remedy: "the ticket was changed, or its issuer lost the permissions: ask for a new one"))
  }

  static func expired(
    at time: Timestamp, status: Int? = nil, s3Code: String? = nil, requestID: String? = nil
  ) -> Failure {
    Failure(
      .credentialsExpired, "the ticket expired at \(time.iso8601)", status: status, s3Code: s3Code,
      requestID: requestID, remedy: "its issuer can renew it: \(run: .renewTicket(all: false))")
  }
}
