import MultipartCore

/// What `get` is going to do, and why.
struct GetPlan {
  let lines: [String]

  init(_ store: Store, _ options: DownloadOptions, _ source: String, _ target: String) async throws(Failure) {
    let common = try await StorePlan(store)
    let transfer = store.settings.transfer
    let pace = ConnectionBounds.pace(
      transfer, isStream: false, line: store.lessons()?.line, descriptors: ConnectionBounds.descriptors)
    let ranges = options.partSize.map { "of \(Human.size($0)), as \(store.settings.source(.partSize)) says" }
    let sizes = [DownloadOptions.rangeSize, DownloadOptions.orderedRangeSize].map(Human.size)
    lines =
      ["source       \(SafeText.oneLine(source))", "target       \(SafeText.oneLine(target))"] + common.place + [
        "ranges       \(ranges ?? "of \(sizes[0]), or of \(sizes[1]) where they are written in order")",
        common.connections(pace: pace, transfer.concurrency), common.rate, common.signature,
      ]
  }
}
