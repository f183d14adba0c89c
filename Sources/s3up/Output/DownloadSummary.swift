import MultipartCore

/// The result of a download.
struct DownloadSummary: Sendable {
  var result: DownloadedObject
  /// `s3://BUCKET/KEY`, or a URL without its query.
  var source: String
  var destination: String
  var duration: Duration

  /// `got s3://b/k as FILE (1.0 GiB, 12.3 s, 83 MiB/s; CRC64NVME abc= of the object is the file's)`
  var line: String {
    let object = SafeText.oneLine(source, limit: .max)
    let file = SafeText.oneLine(destination, limit: .max)
    let evidence = SafeText.oneLine(result.evidence)
    switch result.outcome {
    case .unchanged: return "unchanged \(file) from \(object) (\(Human.size(result.size)); \(evidence))"
    case .skipped: return "skipped \(file): \(evidence)"
    case .completed, .planned: break
    }
    var facts = [Human.size(result.size)]
    if result.bytesResumed > 0 { facts.append("\(Human.size(result.bytesResumed)) of it resumed") }
    facts.append(Human.duration(duration))
    // The rate of a few milliseconds is meaningless.
    if duration >= .milliseconds(500), result.bytesReceived > 0 {
      facts.append(Human.rate(Double(result.bytesReceived) / (duration / .seconds(1))))
    }
    if result.retries > 0 { facts.append(result.retries == 1 ? "1 retry" : "\(result.retries) retries") }
    return "got \(object) as \(file) (\(facts.joined(separator: ", ")); \(evidence))"
  }
}
