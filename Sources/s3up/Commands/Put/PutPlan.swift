import MultipartCore

/// What `put` is going to do, and why: the output of `--explain`.
struct PutPlan {
  private(set) var lines: [String]
  private let job: UploadJob
  private let store: Store
  private var settings: StoreSettings { store.settings }

  init(_ upload: UploadTask, _ store: Store, _ options: UploadOptions) async throws(Failure) {
    job = upload.uploader.job
    self.store = store
    lines = []
    lines = explanation(upload.uploader.plan, try await StorePlan(store))
  }

  private func explanation(_ plan: UploadPlan, _ common: StorePlan) -> [String] {
    let parts =
      if case .stream(let stream) = job.source {
        explanation(stream)
      } else if plan.isSingle {
        job.threshold.map {
          "one PutObject: the file is shorter than \(Human.size($0)), as \(settings.source(.partSize)) says"
        }
          ?? "one PutObject: the file is no longer than a part (\(Human.size(plan.partSize)))"
      } else {
        "\(plan.partCount) parts of \(Human.size(plan.partSize))"
          + (job.partSize == nil ? reason(plan) : ", as \(settings.source(.partSize)) says")
      }
    let source = [
      "source       \(SafeText.oneLine(job.source.path.text)), "
        + (job.source.size.map(Human.size) ?? "of unknown length"),
      "target       s3://\(job.bucket)/\(SafeText.oneLine(job.key))",
    ]
    return source + common.place + [
      "parts        \(parts)",
      common.connections(pace: job.pace, job.concurrency), common.rate, common.checksum(job.checksum, job.remembered),
      common.signature,
      "type         \(job.object.contentType ?? "none")" + (job.typeIsGuessed ? " (guessed)" : ""),
    ]
  }
}

extension PutPlan {
  fileprivate func reason(_ plan: UploadPlan) -> String {
    guard let usual = try? UploadPlan(size: plan.size), usual.partSize != plan.partSize else {
      let finer = job.finer(than: plan, roundTrip: .seconds(1))
      let other = finer.map { ", or \(Human.size($0.partSize)) if a round trip takes 1 ms" }
      return ", as the size requires" + (other ?? "")
    }
    return ", as the size requires on a line that was \(job.line.rawValue)"
  }

  fileprivate func explanation(_ stream: UploadStream) -> String {
    let plan = stream.source.plan
    let size = "parts of \(Human.size(plan.firstSize))" + (plan.isEqual ? "" : ", growing with the stream")
    let cap = plan.memoryCap(concurrency: job.concurrency, length: plan.capacity)
    let first = plan.memoryCap(concurrency: job.concurrency, length: plan.firstSize)
    return size + "; up to \(Human.size(plan.capacity)) in all; at most \(Human.size(first)) of them in memory"
      + (cap > first ? ", \(Human.size(cap)) for the longest stream" : "")
  }
}
