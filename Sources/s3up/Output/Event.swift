import MultipartBasics
import MultipartCore

/// What happens to one object, for `--json`: one object per line, with these keys in this order.
struct Event: Sendable {
  enum Name: String, Sendable, CaseIterable {
    case started, resumed, part, progress, retry, completed, unchanged, verified, failed
    /// Events of a batch: what a dry run would upload, a source without an object, and the totals at the end.
    case planned, skipped, summary
    /// A share of a ticket is at the store, but other shares are missing.
    case shared
  }

  let name: Name
  let fields: [(String, JSON)]

  var json: String { JSON.object([("event", .string(name.rawValue))] + fields).encoded }

  private static func head(_ subject: Subject) -> [(String, JSON)] {
    var (source, key) = (subject.source, subject.key)
    // An address in place of a file may contain a signature, and the key is made of its name.
    if let given = source, given.holds("://") { (source, key) = (Redaction.text(given), key.map(Redaction.text)) }
    return [("source", .optional(source)), ("bucket", .optional(subject.bucket)), ("key", .optional(key))]
  }

  /// What the event is about.
  struct Subject: Sendable {
    var source: String?
    var bucket: String?
    var key: String?
  }

  static func started(_ subject: Subject, size: Int64?, parts: Int?, partSize: Int64?, uploadID: String?) -> Event {
    Event(
      name: .started,
      fields: head(subject) + [
        ("size", number(size)), ("parts", .optional(parts)), ("part_size", number(partSize)),
        ("upload_id", .optional(uploadID)),
      ])
  }

  static func resumed(_ subject: Subject, uploadID: String?, parts: Int, bytes: Int64) -> Event {
    Event(
      name: .resumed,
      fields: head(subject) + [
        ("upload_id", .optional(uploadID)), ("parts_done", .int(Int64(parts))), ("bytes", .int(bytes)),
      ])
  }

  static func part(_ subject: Subject, number part: Int, size: Int64, etag: String?, seconds: Double) -> Event {
    Event(
      name: .part,
      fields: head(subject) + [
        ("part", .int(Int64(part))), ("size", .int(size)), ("etag", .optional(etag)),
        ("seconds", self.seconds(seconds)),
      ])
  }

  static func progress(_ subject: Subject, _ state: ProgressState) -> Event {
    Event(
      name: .progress,
      fields: head(subject) + [
        ("bytes", .int(state.done)), ("size", number(state.total)), ("parts_done", .int(Int64(state.partsDone))),
        ("parts", .optional(state.parts)), ("connections", .int(Int64(state.connections))),
        ("bytes_per_second", number(state.rate.map { Int64(min(max(0, $0), 1e18)) })),
        ("eta_seconds", state.eta.map { seconds($0 / .seconds(1)) } ?? .null),
        ("state", .string(state.words ?? (state.activity == .receiving ? "receiving" : "sending"))),
      ])
  }

  static func retry(_ subject: Subject, part: Int?, attempt: Int, wait: Duration, because failure: Failure) -> Event {
    Event(
      name: .retry,
      fields: head(subject) + [
        ("part", .optional(part)), ("attempt", .int(Int64(attempt))), ("wait_seconds", seconds(wait / .seconds(1))),
        ("code", .string(failure.code.rawValue)), ("message", .string(failure.message.commandText)),
        ("s3_code", .optional(failure.s3Code)),
      ])
  }

  /// An upload has finished.
  static func ended(_ subject: Subject, _ object: UploadedObject, took duration: Duration) -> Event {
    let name: Name
    var missing: [(String, JSON)] = []
    switch object.outcome {
    case .completed: name = .completed
    case .unchanged: name = .unchanged
    case .skipped: name = .skipped
    case .planned: name = .planned
    case .shared(let parts): (name, missing) = (.shared, [("parts_missing", .int(Int64(parts)))])
    }
    return Event(
      name: name,
      fields: head(subject) + [
        ("size", .int(object.size)), ("etag", .optional(object.etag)), ("version_id", .optional(object.versionID)),
        ("checksum", checksum(object.checksum)), ("parts", .int(Int64(object.parts))),
        ("bytes_sent", .int(object.bytesSent)), ("bytes_resumed", .int(object.bytesResumed)),
        ("retries", .int(Int64(object.retries))), ("seconds", seconds(duration / .seconds(1))),
        ("request_id", .optional(object.requestID)), ("evidence", .string(object.evidence)),
      ] + missing)
  }

  /// A download has finished; its source is the object.
  static func ended(
    _ subject: Subject, at destination: String, _ object: DownloadedObject, took duration: Duration
  ) -> Event {
    let name: Name =
      switch object.outcome {
      case .completed: .completed
      case .unchanged: .unchanged
      case .skipped: .skipped
      case .planned: .planned
      }
    return Event(
      name: name,
      fields: [
        ("destination", .string(destination)), ("bucket", .optional(subject.bucket)),
        ("key", .optional(subject.key)), ("size", .int(object.size)), ("etag", .optional(object.etag)),
        ("version_id", .optional(object.versionID)), ("checksum", checksum(object.checksum)),
        ("parts", .int(Int64(object.parts))), ("bytes_received", .int(object.bytesReceived)),
        ("bytes_resumed", .int(object.bytesResumed)), ("retries", .int(Int64(object.retries))),
        ("seconds", seconds(duration / .seconds(1))), ("request_id", .optional(object.requestID)),
        ("evidence", .string(object.evidence)),
      ])
  }

  /// The object was proven to be the file.
  static func verified(_ subject: Subject, _ object: VerifiedObject, took duration: Duration) -> Event {
    Event(
      name: .verified,
      fields: head(subject) + [
        ("size", .int(object.size)), ("etag", .optional(object.etag)), ("version_id", .optional(object.versionID)),
        ("checksum", checksum(object.checksum)), ("parts", .int(Int64(object.parts))),
        ("seconds", seconds(duration / .seconds(1))), ("request_id", .optional(object.requestID)),
        ("evidence", .string(object.evidence)),
      ])
  }

  private static func checksum(_ sum: ObjectChecksum?) -> JSON {
    sum.map {
      .object([("algorithm", .string($0.name)), ("type", .string($0.type.rawValue)), ("value", .string($0.value))])
    } ?? .null
  }

  static func failed(_ failure: Failure, _ status: ExitStatus) -> Event {
    failed(Subject(failure.place), failure, exit: status, resumable: failure.isResumable)
  }

  static func failed(
    _ subject: Subject, _ failure: Failure, exit: ExitStatus? = nil, resumable: Bool
  ) -> Event {
    Event(
      name: .failed,
      fields: head(subject) + [
        ("code", .string(failure.code.rawValue)), ("message", .string(failure.message.commandText)),
        ("s3_code", .optional(failure.s3Code)), ("exit", .int(Int64((exit ?? ExitStatus(failure.code)).rawValue))),
        ("resumable", .bool(resumable)), ("part", .optional(failure.place.part)),
        ("upload_id", .optional(failure.place.uploadID)), ("status", .optional(failure.status)),
        ("request_id", .optional(failure.requestID)),
        ("hint", .optional(failure.remedy?.commandText(at: failure.place))),
      ])
  }

  static func planned(_ subject: Subject, size: Int64?) -> Event {
    Event(name: .planned, fields: head(subject) + [("size", number(size))])
  }

  /// A source has no object.
  static func skipped(_ source: String, _ why: String) -> Event {
    Event(name: .skipped, fields: [("source", .string(source)), ("message", .string(why))])
  }

  static func summary(_ summary: BatchSummary, seconds: Double) -> Event {
    let moved = summary.bytesSent + summary.bytesReceived
    let rate = seconds > 0 ? Int64(min(Double(moved) / seconds, 1e18)) : 0
    let files = summary.uploaded + summary.downloaded + summary.unchanged + summary.verified + summary.failed
    return Event(
      name: .summary,
      fields: [
        ("files", .int(Int64(files))), ("downloaded", .int(Int64(summary.downloaded))),
        ("verified", .int(Int64(summary.verified))), ("uploaded", .int(Int64(summary.uploaded))),
        ("unchanged", .int(Int64(summary.unchanged))),
        ("skipped", .int(Int64(summary.skipped + summary.existing))), ("failed", .int(Int64(summary.failed))),
        ("gave_up", .bool(summary.hasGivenUp)),
        ("bytes", .int(summary.bytes)), ("bytes_sent", .int(summary.bytesSent)),
        ("bytes_received", .int(summary.bytesReceived)),
        ("bytes_resumed", .int(summary.bytesResumed)), ("retries", .int(Int64(summary.retries))),
        ("seconds", self.seconds(seconds)), ("bytes_per_second", .int(rate)),
      ])
  }

  private static func number(_ value: Int64?) -> JSON { value.map { .int($0) } ?? .null }

  /// Seconds, rounded to the millisecond.
  private static func seconds(_ value: Double) -> JSON { .double((value * 1000).rounded() / 1000) }
}
