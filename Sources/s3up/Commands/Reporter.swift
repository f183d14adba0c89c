import Glibc
import MultipartBasics
import MultipartCore

/// Limits how many retries a run reports: at most one in five seconds, however many uploads it has.
final class RetryPauses: Sendable {
  private let lastSaid = Locked<Duration?>(nil)

  func areDue(_ now: Duration) -> Bool {
    lastSaid.withLock { last in
      guard last.map({ now - $0 >= .seconds(5) }) ?? true else { return false }
      last = now
      return true
    }
  }
}

/// Reports what happens to the objects of a run: messages for people, and the events of `--json=all` for programs.
struct Reporter: Sendable {
  private let session: Session
  /// Whether messages have to say which object they are about.
  private let isOfMany: Bool
  private let retries = RetryPauses()

  init(_ session: Session, isOfMany: Bool = false) { (self.session, self.isOfMany) = (session, isOfMany) }

  private func name(of subject: Event.Subject) -> String {
    guard isOfMany else { return "" }
    return (subject.source ?? "s3://\(subject.bucket ?? "")/\(subject.key ?? "")") + ": "
  }

  func hear(_ event: UploadEvent, of subject: Event.Subject) {
    let name = name(of: subject)
    switch event {
    case .started(let id, let size, let parts, let partSize):
      print(.started(subject, size: size, parts: parts, partSize: partSize, uploadID: id))
    case .part(let number, let size, let etag, let took):
      print(.part(subject, number: number, size: size, etag: etag, seconds: took / .seconds(1)))
    case .retry(let part, let attempt, let wait, let code, let message):
      print(.retry(subject, part: part, attempt: attempt, wait: wait, because: Failure(code, message)))
      sayRetry(name + (part.map { "part \($0)" } ?? "request"), message, attempt, wait)
    case .checksumChanged(let from, let to, let message):
      let next = to == .nothing ? "no checksum" : to.title
      session.world.log(1, "\(name)\(message): \(next) instead of \(from.title) from here on")
    case .resumed(let id, let parts, let bytes):
      print(.resumed(subject, uploadID: id, parts: parts, bytes: bytes))
      if parts > 0 {
        let done = "\(Human.count(parts, "part")) (\(Human.size(bytes))) \(parts == 1 ? "is" : "are")"
        advise("\(name)resumes: \(done) already at the store")
      }
    case .connections(let connections, let why):
      let text = "\(Human.count(connections, "connection")) from here on: \(why)"
      if session.output.explain { session.console.line(text) } else { session.world.log(1, "\(text)") }
    case .startsAnew(let message): say("\(name)\(message): starting a new one")
    case .waitsForQuiet(let id, let wait):
      sayWait("\(name)another client may still be sending to upload \(id); waiting \(Human.duration(wait)) to find out")
    case .waitsForRun(let process):
      let who = process.map { " (process \($0))" } ?? ""
      sayWait("\(name)waiting for another run that is uploading to this object\(who)")
    case .passedBy(let id, let why): say("\(name)upload \(id) is left untouched: \(why)")
    case .leftBehind(let id): say("\(name)upload \(id) may be left: the store has not confirmed that it is gone")
    case .leftAlone(let id): say("\(name)upload \(id), which this run did not begin, is left at the store")
    case .advice(let text): advise(text)
    case .warning(let text): say(text)
    }
  }

  func hear(_ event: DownloadEvent, of subject: Event.Subject) {
    let name = name(of: subject)
    switch event {
    case .started(let size, let ranges, let rangeSize):
      print(.started(subject, size: size, parts: ranges, partSize: rangeSize, uploadID: nil))
    case .range(let number, let size, let took):
      print(.part(subject, number: number, size: size, etag: nil, seconds: took / .seconds(1)))
    case .retry(let range, let attempt, let wait, let code, let message):
      print(.retry(subject, part: range, attempt: attempt, wait: wait, because: Failure(code, message)))
      sayRetry(name + (range.map { "range \($0)" } ?? "request"), message, attempt, wait)
    case .resumed(let ranges, let bytes):
      print(.resumed(subject, uploadID: nil, parts: ranges, bytes: bytes))
      let whole = ranges > 0 ? " (\(Human.count(ranges, "whole range")))" : ""
      session.world.log(1, "\(name)resumes: \(Human.size(bytes))\(whole) are already on disk")
    case .reloads:
      say("\(name)the downloaded bytes are not the object: downloading every range again, over other connections")
    case .connections(let connections, let why):
      session.world.log(1, "\(Human.count(connections, "connection")) from here on: \(why)")
    case .warning(let text): say(text)
    }
  }

  private func say(_ text: Wording) {
    session.console.line("s3up: \(SafeText.oneLine(text.commandText, limit: ErrorText.longestAdvice))")
  }

  /// A wait is no error.
  private func sayWait(_ text: Wording) {
    if session.output.quiet { session.world.log(1, text) } else { say(text) }
  }

  /// Prints advice for a person at a terminal; otherwise logs it.
  private func advise(_ text: Wording) {
    if Descriptor.isTerminal(STDERR_FILENO), !session.output.quiet { say(text) } else { session.world.log(1, text) }
  }

  /// With `-v` every retry is reported; otherwise, on a terminal, at most one in five seconds of those with a long
  /// wait.
  private func sayRetry(_ what: String, _ message: Wording, _ attempt: Int, _ wait: Duration) {
    let text = "\(what): \(message.commandText); try \(attempt) in \(Human.duration(wait))"
    guard session.output.verbosity == 0 else { return session.world.log(1, "\(text)") }
    guard !session.output.quiet, wait >= .milliseconds(500), Descriptor.isTerminal(STDERR_FILENO) else { return }
    if retries.areDue(session.world.uptime()) { session.console.line("s3up: \(SafeText.oneLine(text))") }
  }

  private func print(_ event: Event) {
    guard session.output.json == .all else { return }
    // If the reader is gone, that is reported with the result, which must be written.
    try? StandardOutput.line(event.json)
  }
}
