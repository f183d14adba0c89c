import MultipartCore

/// `s3up complete s3://BUCKET/KEY --upload-id ID [--parts-file FILE] [--allow-gaps]`
struct CompleteCommand {
  private let session: Session
  private let options: StepOptions
  private let conditions: WriteConditions

  init(_ session: Session) throws(Failure) {
    self.session = session
    options = try StepOptions(session.invocation)
    conditions = try ConditionOptions(session.invocation).write
  }

  func run() async throws(Failure) {
    let start = session.world.uptime()
    let word = try session.invocation.arguments("s3://BUCKET/KEY")[0]
    // A list that is wrong is told before the store is asked for anything.
    let list = try list()
    let target = try await StepTarget(session, word)
    switch try await outcome(list, target) {
    case .completed(let result): try report(result, target, took: session.world.uptime() - start)
    case .unchanged(let result):
      try report(result, target, isUnchanged: true, took: session.world.uptime() - start)
    case .failed(let failure): throw failure.at(target.place)
    }
  }

  private enum Outcome {
    case completed(UploadResult)
    /// The upload is gone, and the object is made of its parts.
    case unchanged(UploadResult)
    case failed(Failure)
  }

  private func outcome(_ list: [PartsFile.Line]?, _ target: StepTarget) async throws(Failure) -> Outcome {
    let failure: Failure
    do throws(Failure) {
      if let result = try await completed(list, target) { return .completed(result) }
      failure = Failure(
        .dataMismatch, "the upload has no parts", remedy: "Send parts first: s3up part FILE … --part 1")
    } catch {
      guard error.code == .uploadGone || error.status == 404 else { return .failed(error) }
      failure = error
    }
    if let list, let result = try await completedBefore(list, target) { return .unchanged(result) }
    return .failed(failure)
  }

  private func list() throws(Failure) -> [PartsFile.Line]? {
    guard let file = options.partsFile else { return nil }
    let list = try PartsFile.read(file)
    do throws(Failure) {
      guard !list.isEmpty else {
        throw Failure(.usage, "the list of parts is empty", remedy: "s3up parts prints such a list.")
      }
      try requireWhole(list.map(\.number), "the list of parts leaves out")
    } catch {
      throw error.at(Place(file: file.text))
    }
    return list
  }

  private func requireWhole(_ numbers: [Int], _ what: String) throws(Failure) {
    let missing = PartNumbers.missing(in: numbers)
    guard !options.allowsGaps, !missing.isEmpty else { return }
    throw Failure(
      .dataMismatch, "\(what) \(PartNumbers.text(missing)) of 1-\(numbers.max() ?? 0)",
      remedy: "Send what is missing, or assemble the object without it: --allow-gaps")
  }

  /// Nil where the store lists no parts: of an upload that is gone some stores do.
  private func completed(_ list: [PartsFile.Line]?, _ target: StepTarget) async throws(Failure) -> UploadResult? {
    let listed = try await target.parts()
    guard !listed.parts.isEmpty else { return nil }
    let chosen = try chosen(list, of: listed.parts)
    try requireWhole(chosen.map(\.number), "the store does not have")
    let finisher = Finisher(
      client: target.access.client, bucket: target.url.bucket, key: target.key, conditions: conditions,
      customerKey: target.customerKey, common: target.access.common)
    // Begun before its first part came.
    finisher.begin(chosen.compactMap(\.lastModified).min().map { .upload($0) })
    let step = CompleteStep(finisher: finisher, retry: target.access.retry, world: session.world)
    return try await step.run(listed.receipts(chosen), uploadID: target.uploadID)
  }

  /// The parts that the list names, or all. One that the store does not have, or has as another, is not assembled into
  /// an object that nobody meant.
  private func chosen(
    _ list: [PartsFile.Line]?, of listed: [ListParts.Part]
  ) throws(Failure) -> [ListParts.Part] {
    guard let list else { return listed }
    let known = Dictionary(listed.map { ($0.number, $0) }) { _, last in last }
    let missing = list.map(\.number).filter { known[$0] == nil }
    guard missing.isEmpty else {
      throw Failure(
        .dataMismatch, "the store does not have \(PartNumbers.text(missing)), which the list names",
        remedy: "Send what is missing, or mend the list; s3up parts shows what the store has.")
    }
    var chosen: [ListParts.Part] = []
    for line in list {
      guard let part = known[line.number] else { continue }
      guard ETag(part.etag) == ETag(line.etag), line.size.map({ $0 == part.size }) ?? true else {
        throw Failure(
          .dataMismatch,
          "the store's part \(line.number) is \(part.size) bytes with the ETag \(part.etag), the list says "
            + (line.size.map { "\($0) bytes with " } ?? "") + line.etag,
          remedy: "Send the part again, or mend the list.")
      }
      chosen.append(part)
    }
    return chosen
  }

  /// Nil where nothing proves that the object is made of these parts. A condition asks for what was there before: of
  /// that nothing can be known any more.
  private func completedBefore(
    _ list: [PartsFile.Line], _ target: StepTarget
  ) async throws(Failure) -> UploadResult? {
    guard conditions == WriteConditions() else { return nil }
    let earlier = EarlierCompletion(
      head: HeadObject(
        bucket: target.url.bucket, key: target.key, customerKey: target.customerKey, common: target.access.common))
    let parts = list.map {
      EarlierCompletion.Part(number: $0.number, etag: $0.etag, size: $0.size, checksums: $0.checksums)
    }
    do throws(Failure) {
      return try await earlier.find(parts, client: target.access.client, retry: target.access.retry)
    } catch {
      throw error.at(target.place)
    }
  }

  private func report(
    _ result: UploadResult, _ target: StepTarget, isUnchanged: Bool = false, took: Duration
  ) throws(Failure) {
    let summary = result.summary(duration: took)
    let name = SafeText.oneLine("s3://\(target.url.bucket)/\(target.key)", limit: .max)
    let facts = "\(Human.size(result.size)) in \(Human.count(result.parts, "part"))"
    let line =
      isUnchanged
      ? "unchanged \(name): it was made of these parts before (\(facts); \(SafeText.oneLine(result.evidence)))"
      : "completed \(name) (\(facts); \(SafeText.oneLine(result.evidence)))"
    let event = isUnchanged ? Event.unchanged(target.subject, summary) : Event.completed(target.subject, summary)
    try session.say(session.paint(1).result(line), json: event.json)
  }
}
