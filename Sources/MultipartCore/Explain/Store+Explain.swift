import MultipartBasics

extension Store {
  /// What this upload is going to do, and why, for a person.
  public func explain(_ upload: UploadTask) async throws(Failure) -> [PlanLine] {
    let (job, store) = (upload.uploader.job, try await StorePlan(self))
    let size = job.source.size.map(Human.size) ?? "of unknown length"
    return [
      PlanLine("source", "\(SafeText.oneLine(job.source.path.text)), \(size)"),
      PlanLine("target", "s3://\(job.bucket)/\(SafeText.oneLine(job.key))"),
    ] + store.place + [
      PartsPlan(job, upload.uploader.plan, settings).line,
      store.connections(pace: job.pace, job.concurrency), store.rate, store.checksum(job.checksum, job.remembered),
      store.signature,
      PlanLine("type", (job.object.contentType ?? "none") + (job.typeIsGuessed ? " (guessed)" : "")),
    ]
  }

  /// What an upload of many sources is going to do, and why, for a person. `sources` and `target` name them; without a
  /// target each source has its own.
  public func explain(
    _ options: UploadOptions, sources: String, target: String?
  ) async throws(Failure) -> [PlanLine] {
    let (store, lessons) = (try await StorePlan(self), lessons())
    let small = ConnectionBounds.mostSmall(descriptors: ConnectionBounds.descriptors)
    return [PlanLine("source", sources)] + (target.map { [PlanLine("target", $0)] } ?? []) + store.place + [
      try PartsPlan.line(ofMany: options, settings, lessons),
      store.connections(pace: usualPace(lessons), settings.transfer.concurrency, small: small), store.rate,
      store.checksum(options.checksum, lessons?.form), store.signature,
      PlanLine("type", options.object.contentType ?? "of each file by its name, or by its first bytes"),
    ]
  }

  /// What a download is going to do, and why, for a person. `source` and `target` name what is read and written.
  public func explain(
    _ options: DownloadOptions, source: String, target: String
  ) async throws(Failure) -> [PlanLine] {
    let store = try await StorePlan(self)
    let ranges = options.partSize.map { "of \(Human.size($0)), as \(settings.source(.partSize)) says" }
    let sizes = [DownloadOptions.rangeSize, DownloadOptions.orderedRangeSize].map(Human.size)
    let least = Human.size(DownloadOptions.leastRangeSize)
    return [PlanLine("source", SafeText.oneLine(source)), PlanLine("target", SafeText.oneLine(target))] + store.place
      + [
        PlanLine(
          "ranges",
          ranges
            ?? "of \(sizes[0]); of \(sizes[1]) where they are written in order, or if a round trip takes 1 ms; of \(least) to \(sizes[1]) if it takes 5 ms; of \(least) on a line that was slow"
        ),
        store.connections(pace: usualPace(lessons()), settings.transfer.concurrency), store.rate, store.signature,
      ]
  }

  private func usualPace(_ lessons: StoreLessons?) -> Pace.Bounds? {
    ConnectionBounds.pace(
      settings.transfer, isStream: false, line: lessons?.line, descriptors: ConnectionBounds.descriptors)
  }
}

extension Ticket {
  /// What an upload by this ticket is going to do, and why, for a person; `share` are the parts that it sends.
  public func explain(_ upload: UploadTask, share: Range<Int>? = nil) -> [PlanLine] {
    let plan = upload.uploader.plan
    let parts = "\(Human.count(plan.partCount, "part")) of \(Human.size(plan.partSize))"
    let sent = share.map { $0.clamped(to: 1..<plan.partCount + 1) }
    let own = sent.map { ", of which this run sends \($0.isEmpty ? "none" : PartNumbers.text(Array($0)))" } ?? ""
    return [
      PlanLine("target", "s3://\(bucket)/\(SafeText.oneLine(key)) at \(endpoint)"), .credentials(until: expires),
      PlanLine("parts", "\(parts)\(own)"), PlanLine("checksum", "\(checksum.title), as the ticket says"),
    ]
  }
}

extension TicketBatch {
  /// What uploads by these tickets are going to do, and why, for a person.
  public func explain() -> [PlanLine] {
    [
      PlanLine("target", "the objects that the tickets name, at \(SafeText.oneLine(endpoint))"),
      .credentials(until: expires),
    ]
  }
}

extension PlanLine {
  fileprivate static func credentials(until end: Timestamp) -> PlanLine {
    PlanLine("credentials", "none: requests were signed when the ticket was issued, and expire at \(end.iso8601)")
  }
}
