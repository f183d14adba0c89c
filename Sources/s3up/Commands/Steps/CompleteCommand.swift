import MultipartBasics
import MultipartCore

/// `s3up complete s3://BUCKET/KEY --upload-id ID [--parts-file FILE] [--allow-gaps]`
struct CompleteCommand {
  private let session: Session
  private let options: StepOptions

  init(_ session: Session) throws(Failure) {
    self.session = session
    options = try StepOptions(session.invocation)
  }

  func run() async throws(Failure) {
    let start = session.world.uptime()
    let word = try session.invocation.arguments("s3://BUCKET/KEY")[0]
    // An invalid list is refused before any request is sent.
    let list = try list()
    let target = try await StepTarget(session, word)
    // Only a list of its parts shows later that an object is this upload's.
    let remedy: Wording? =
      list == nil ? "see whether it is there: \(run: .headObject); if not, run the same command again" : nil
    let tell = { @Sendable [session] (failure: Failure) in session.tell(failure.at(target.place)) }
    let object = try await session.signals.awaitingAnswer(remedy: remedy, late: tell) {
      [session, options] () async throws(Failure) in
      try await target.upload.complete(list, allowsGaps: options.allowsGaps, session.options.upload)
    }
    let event = Event.ended(target.subject, object, took: session.world.uptime() - start)
    let facts = "\(Human.size(object.size)) in \(Human.count(object.parts, "part"))"
    let proof = SafeText.oneLine(object.evidence)
    let line =
      object.outcome == .unchanged
      ? "unchanged \(target.name): it was made of these parts before (\(facts); \(proof))"
      : "completed \(target.name) (\(facts); \(proof))"
    try session.say(session.paint(1).result(line), json: event.json)
  }

  private func list() throws(Failure) -> [UploadedPart]? {
    guard let file = options.partsFile else { return nil }
    let list = try PartsFile.read(file)
    do throws(Failure) {
      guard !list.isEmpty else {
        throw Failure(.usage, "the list of parts is empty", remedy: "s3up parts prints such a list.")
      }
      if !options.allowsGaps { try UploadedPart.requireWhole(list) }
    } catch {
      throw error.at(Place(file: file.text))
    }
    return list
  }
}
