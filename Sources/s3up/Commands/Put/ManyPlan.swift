import MultipartCore

/// What `put` of many files is going to do, and why: the output of `--explain`. `--dry-run` shows what would happen to
/// each file.
struct ManyPlan {
  let lines: [String]

  init(_ store: Store, _ options: UploadOptions, _ sources: ManySources) async throws(Failure) {
    let common = try await StorePlan(store)
    let transfer = store.settings.transfer
    let lessons = store.lessons()
    let pace = ConnectionBounds.pace(
      transfer, isStream: false, line: lessons?.line, descriptors: ConnectionBounds.descriptors)
    let small = ConnectionBounds.mostSmall(descriptors: ConnectionBounds.descriptors)
    let target = sources.target.map { "s3://\($0.bucket)/\(SafeText.oneLine($0.key ?? ""))" }
    lines =
      ["source       \(sources.title)"]
      + (sources.namesTargets ? [] : ["target       \(target ?? "")"])
      + common.place + [
        "parts        \(try Self.parts(store, options, lessons))",
        common.connections(pace: pace, transfer.concurrency, small: small), common.rate,
        common.checksum(options.checksum, lessons?.form), common.signature,
        "type         " + (options.object.contentType ?? "of each file by its name, or by its first bytes"),
      ]
  }

  private static func parts(
    _ store: Store, _ options: UploadOptions, _ lessons: StoreLessons?
  ) throws(Failure) -> String {
    let transfer = store.settings.transfer
    let line = (lessons?.line ?? .usual).bounded(by: transfer.limitRate)
    let size = options.partSize ?? transfer.partSize(forFileOf: UploadPlan.defaultPart + 1)
    let plan = try UploadPlan(size: UploadPlan.defaultPart + 1, partSize: size, line: line)
    let part = Human.size(plan.partSize)
    if options.partSize == nil, let threshold = transfer.threshold {
      return "of \(part) for files of \(Human.size(threshold)) or more, as \(store.settings.source(.partSize)) says"
    }
    let why =
      if size != nil {
        ", as \(store.settings.source(.partSize)) says"
      } else if plan.partSize < UploadPlan.defaultPart {
        ", on a line that was \(line.rawValue)"
      } else { ", larger if its size asks for it" }
    return "one PutObject for a file no longer than a part; others in parts of \(part)" + why
  }
}
