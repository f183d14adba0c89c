/// What those who watch an upload are told, as it happens.
public enum UploadEvent: Sendable {
  /// Size and parts are nil while they are not known, the id where one request does.
  case started(uploadID: String?, size: Int64?, parts: Int?, partSize: Int64)
  /// The store has the part.
  case part(number: Int, size: Int64, etag: String, took: Duration)
  /// A request, or this part, is tried again after the wait.
  case retry(part: Int?, attempt: Int, wait: Duration, cause: Failure.Code, message: Wording)
  /// The store does not take or does not verify a checksum.
  case checksumChanged(from: ChecksumForm, to: ChecksumForm, why: Wording)
  /// Parts that the store has already are not sent again.
  case resumed(uploadID: String, parts: Int, bytes: Int64)
  /// An unfinished upload cannot be resumed, and another one begins.
  case startsAnew(why: Wording)
  /// Somebody may still be sending to the upload; whether anybody is shows after this time.
  case waitsForQuiet(uploadID: String, wait: Duration)
  /// An upload that no record knows is not adopted.
  case passedBy(uploadID: String, why: String)
  /// The upload could not be shown to be gone after its abort.
  case leftBehind(uploadID: String)
  /// An upload that this run has not begun stays as it is.
  case leftAlone(uploadID: String)
  /// Another number of connections from here on.
  case connections(Int, why: String)
  /// Something that a person should know, and that stops nothing.
  case warning(Wording)
  /// The same, for a person who looks on.
  case advice(Wording)
}

extension UploadEvent {
  init(_ notice: UploadMachine.Notice) {
    self =
      switch notice {
      case .retry(let part, let attempt, let cause, let message, let wait):
        .retry(part: part, attempt: attempt, wait: wait, cause: cause, message: message)
      case .steppedDown(let from, let to, let message): .checksumChanged(from: from, to: to, why: message)
      case .startsAnew(let message): .startsAnew(why: message)
      case .resumes(let id, let parts, let bytes): .resumed(uploadID: id, parts: parts, bytes: bytes)
      case .leftBehind(let id): .leftBehind(uploadID: id)
      case .leftAlone(let id): .leftAlone(uploadID: id)
      case .waitsForQuiet(let id, let wait): .waitsForQuiet(uploadID: id, wait: wait)
      case .passedBy(let id, let why): .passedBy(uploadID: id, why: why)
      case .paced(let connections, let why): .connections(connections, why: why)
      }
  }
}
