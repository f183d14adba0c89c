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
    let credentials = try await store.signer.currentCredentials()?.source ?? "none: requests are not signed"
    lines = explanation(upload.uploader.plan, credentials)
  }

  private func explanation(_ plan: UploadPlan, _ credentials: String) -> [String] {
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
    let checksum =
      switch (job.checksum, job.remembered) {
      case (let form?, _): "\(form.title), as --checksum says"
      case (nil, let form?): "\(form.title), as was learned from earlier uploads"
      case (nil, nil): "CRC64NVME, which S3 verifies; another if the store does not"
      }
    return [
      "source       \(SafeText.oneLine(job.source.path.text)), "
        + (job.source.size.map(Human.size) ?? "of unknown length"),
      "target       s3://\(job.bucket)/\(SafeText.oneLine(job.key))",
      "endpoint     \(store.endpoint.origin) (\(settings.endpointSource(store.endpoint))), "
        + (store.endpoint.usesPath ? "bucket in the path" : "bucket in the host")
        + (settings.sources[.addressing].map { ", as \($0) says" } ?? ""),
      "region       \(store.endpoint.region) (\(settings.source(.region)))",
      "credentials  \(SafeText.oneLine(credentials))",
      "parts        \(parts)",
      "connections  \(connections) (\(settings.source(.concurrency)))",
      "rate         \(rate)",
      "checksum     \(checksum)",
      "signature    " + (store.signer.signsPayload ? "covers the SHA-256 of the body" : "leaves the body to TLS")
        + (settings.sources[.payloadSigning].map { ", as \($0) says" } ?? ""),
      "type         \(job.object.contentType ?? "none")" + (job.typeIsGuessed ? " (guessed)" : ""),
    ]
  }
}

extension PutPlan {
  fileprivate var connections: String {
    guard let pace = job.pace else { return String(job.concurrency) }
    let opening = pace.opening ?? pace.start
    let first = "\(opening) at first" + (opening < pace.start ? ", \(pace.start) once the line takes them" : "")
    let more = pace.most > pace.start ? ", up to \(pace.most) while more are faster" : ""
    let many = pace.mostWhenLossy > pace.most ? ", or \(pace.mostWhenLossy) if each loses packets" : ""
    return first + more + many + ", fewer where the line\(job.limitRate == nil ? "" : " or the limit") is slow"
  }

  fileprivate func reason(_ plan: UploadPlan) -> String {
    guard let usual = try? UploadPlan(size: plan.size), usual.partSize != plan.partSize else {
      let finer = job.finer(than: plan, roundTrip: .seconds(1))
      return ", as the size asks for" + (finer.map { ", or of \(Human.size($0.partSize)) if the line is long" } ?? "")
    }
    return ", as the size asks for on a line that was \(job.line.rawValue)"
  }

  fileprivate var rate: String {
    guard let rate = settings.transfer.limitRate else { return "not limited" }
    return "\(Human.size(rate)) a second (\(settings.source(.limitRate)))"
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

extension ChecksumForm {
  var title: String {
    switch self {
    case .algorithm(let algorithm): algorithm.awsName ?? algorithm.rawValue
    case .md5: "Content-MD5"
    case .none: "none"
    }
  }
}
