import MultipartBasics

/// What an explanation says about the parts of an upload.
struct PartsPlan {
  private let job: UploadJob
  private let plan: UploadPlan
  private let settings: StoreSettings

  init(_ job: UploadJob, _ plan: UploadPlan, _ settings: StoreSettings) {
    self.job = job
    self.plan = plan
    self.settings = settings
  }

  var line: PlanLine {
    if case .stream(let stream) = job.source { return PlanLine("parts", explanation(stream)) }
    let asked = settings.source(.partSize)
    guard plan.isSingle else {
      let why = job.partSize == nil ? reason : ", as \(asked) says"
      return PlanLine("parts", "\(plan.partCount) parts of \(Human.size(plan.partSize))\(why)")
    }
    let why =
      job.threshold.map { "shorter than \(Human.size($0)), as \(asked) says" }
      ?? "no longer than a part (\(Human.size(plan.partSize)))"
    return PlanLine("parts", "one PutObject: the file is \(why)")
  }

  private var reason: String {
    guard let usual = try? UploadPlan(size: plan.size), usual.partSize != plan.partSize else {
      let finer = job.finer(than: plan, roundTrip: .seconds(1))
      let other = finer.map { ", or \(Human.size($0.partSize)) if a round trip takes 1 ms" }
      return ", chosen for a file of this size" + (other ?? "")
    }
    return ", chosen for a file of this size on a line that was \(job.line.rawValue)"
  }

  private func explanation(_ stream: UploadStream) -> Wording {
    let plan = stream.source.plan
    let size = "parts of \(Human.size(plan.firstSize))" + (plan.isEqual ? "" : ", growing with the stream")
    let cap = plan.memoryCap(concurrency: job.concurrency, length: plan.capacity)
    let first = plan.memoryCap(concurrency: job.concurrency, length: plan.firstSize)
    let rest = cap > first ? ", \(Human.size(cap)) for the longest stream" : ""
    return "\(size); up to \(Human.size(plan.capacity)) in all; at most \(Human.size(first)) of them in memory\(rest)"
  }

  static func line(
    ofMany options: UploadOptions, _ settings: StoreSettings, _ lessons: StoreLessons?
  ) throws(Failure) -> PlanLine {
    let transfer = settings.transfer
    let line = (lessons?.line ?? .usual).bounded(by: transfer.limitRate)
    let size = options.partSize ?? transfer.partSize(forFileOf: UploadPlan.defaultPart + 1)
    let plan = try UploadPlan(size: UploadPlan.defaultPart + 1, partSize: size, line: line)
    let part = Human.size(plan.partSize)
    let asked = settings.source(.partSize)
    if options.partSize == nil, let threshold = transfer.threshold {
      return PlanLine("parts", "of \(part) for files of \(Human.size(threshold)) or more, as \(asked) says")
    }
    let why =
      if size != nil {
        ", as \(asked) says"
      } else if plan.partSize < UploadPlan.defaultPart {
        ", on a line that was \(line.rawValue)"
      } else { ", or larger for very long files" }
    return PlanLine("parts", "one PutObject for each file of up to \(part); others in parts of \(part)\(why)")
  }
}
