import MultipartCore

/// `s3up complete s3://BUCKET/KEY --upload-id ID [--parts-file FILE]`
struct CompleteCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let start = session.world.uptime()
    let invocation = session.invocation
    let target = try await StepTarget(session, try invocation.arguments("s3://BUCKET/KEY")[0])
    do throws(Failure) {
      let listed = try await target.parts()
      let chosen = try chosen(listed.parts)
      guard !chosen.isEmpty else {
        throw Failure(.usage, "the upload has no parts", hint: "Send parts first: s3up part FILE … --part 1")
      }
      let finisher = Finisher(
        client: target.access.client, bucket: target.url.bucket, key: target.key,
        conditions: try ConditionOptions(invocation).write, customerKey: target.customerKey,
        common: target.access.common)
      let step = CompleteStep(finisher: finisher, retry: target.access.retry, world: session.world)
      let result = try await step.run(listed.receipts(chosen), uploadID: target.uploadID)
      try report(result, target, took: session.world.uptime() - start)
    } catch {
      throw error.at(target.place)
    }
  }

  private func report(_ result: UploadResult, _ target: StepTarget, took: Duration) throws(Failure) {
    let summary = result.summary(duration: took)
    let name = SafeText.oneLine("s3://\(target.url.bucket)/\(target.key)", limit: .max)
    let line =
      "completed \(name) (\(Human.size(result.size)) in \(Human.count(result.parts, "part")); "
      + "\(SafeText.oneLine(result.evidence)))"
    try session.say(
      session.paint(1).result(line), json: Event.completed(target.subject, summary).json)
  }

  /// The parts that the file names, or all. One that the store does not have, or has as another, is not assembled into
  /// an object that nobody meant.
  private func chosen(_ listed: [ListParts.Part]) throws(Failure) -> [ListParts.Part] {
    guard let file = try StepOptions(session.invocation).partsFile else { return listed }
    let wanted = try PartsFile.read(file)
    var chosen: [ListParts.Part] = []
    for line in wanted {
      guard let part = listed.first(where: { $0.number == line.number }) else {
        throw Failure(.usage, "the store has no part \(line.number)", hint: "s3up parts lists what it has.")
      }
      guard ETag(part.etag) == ETag(line.etag) else {
        throw Failure(
          .dataMismatch, "the store's part \(line.number) has the ETag \(part.etag), the list says \(line.etag)",
          hint: "Send the part again, or mend the list.")
      }
      chosen.append(part)
    }
    return chosen
  }
}

/// A list of parts: a number and an ETag a line, with a space or tab between; empty lines and `#` are passed over.
enum PartsFile {
  struct Line: Equatable {
    var number: Int
    var etag: String
  }

  static func read(_ file: Argument) throws(Failure) -> [Line] {
    let path = file.bytes == [UInt8(ascii: "-")] ? FilePath("/dev/stdin") : FilePath(bytes: file.bytes)
    return try parse(try SmallFile.read(path, limit: 4 << 20), name: file.text)
  }

  static func parse(_ bytes: [UInt8], name: String) throws(Failure) -> [Line] {
    var lines: [Line] = []
    var seen: Set<Int> = []
    let rows = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, row) in rows.enumerated() {
      let words = row.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
      guard words.count == 2, let number = Int(String(decoding: first, as: UTF8.self)), (1...10_000).contains(number),
        let etag = String(validating: words[1], as: UTF8.self), ETag(etag) != nil
      else {
        throw Failure(
          .usage, "line \(index + 1) of the list of parts is no part",
          hint: "Each line is a number and an ETag: 1 \"9b2cf535f27731c974343645a3985328\""
        ).at(Place(file: name))
      }
      guard seen.insert(number).inserted else {
        throw Failure(.usage, "part \(number) stands twice in the list").at(Place(file: name))
      }
      lines.append(Line(number: number, etag: etag))
    }
    return lines.sorted { $0.number < $1.number }
  }
}
