import MultipartCore

/// The result of an upload.
struct UploadSummary: Sendable {
  struct Checksum: Sendable {
    /// `CRC64NVME`
    var algorithm: String
    /// `FULL_OBJECT` or `COMPOSITE`
    var type: String
    var value: String
  }

  var size: Int64
  var etag: String?
  var versionID: String?
  var checksum: Checksum?
  /// 1 if a single request sent the object.
  var parts: Int
  var bytesSent: Int64
  var bytesResumed: Int64 = 0
  var retries: Int = 0
  var duration: Duration
  var requestID: String?
  /// A clause without a full stop: `CRC64NVME abc= confirmed by the store`.
  var evidence: String?

  /// `unchanged FILE at s3://b/k (1.0 GiB; CRC64NVME abc= of the object is the file's)`
  func unchangedLine(source: String, bucket: String, key: String) -> String {
    let proof = evidence.map { "; " + SafeText.oneLine($0) } ?? ""
    let target = SafeText.oneLine("s3://\(bucket)/\(key)", limit: .max)
    return "unchanged \(SafeText.oneLine(source, limit: .max)) at \(target) (\(Human.size(size))\(proof))"
  }

  /// `skipped FILE: the object exists already: s3://b/k`
  func skippedLine(source: String, bucket: String, key: String) -> String {
    let target = SafeText.oneLine("s3://\(bucket)/\(key)", limit: .max)
    let name = SafeText.oneLine(source, limit: .max)
    return "skipped \(name): \(evidence ?? "the object exists"): \(target)"
  }

  /// `sent 12 parts of FILE to s3://b/k (96 MiB, 2.1 s, 45 MiB/s); 84 parts of other shares are missing`
  func sharedLine(source: String, bucket: String, key: String, missing: Int) -> String {
    let what = "sent \(Human.count(parts, "part")) of "
    return what + line(source: source, bucket: bucket, key: key).dropFirst("uploaded ".count)
      + "; \(Human.count(missing, "part")) of other shares \(missing == 1 ? "is" : "are") missing"
  }

  /// What proves it, in short: `proven by CRC64NVME`. Where it is no checksum, the evidence as it is.
  private var proof: String {
    guard let evidence else { return "" }
    if let checksum, evidence.begins(with: checksum.algorithm) { return "; proven by " + checksum.algorithm }
    return "; " + SafeText.oneLine(evidence)
  }

  /// `uploaded FILE to s3://b/k (1.0 GiB in 128 parts, 12.3 s, 83 MiB/s; proven by CRC64NVME)`
  func line(source: String, bucket: String, key: String) -> String {
    var facts = [Human.size(size)]
    if parts > 1 { facts[0] += " in \(Human.count(parts, "part"))" }
    if bytesResumed > 0 { facts.append("\(Human.size(bytesResumed)) of it resumed") }
    facts.append(Human.duration(duration))
    // The rate of a few milliseconds is meaningless.
    if duration >= .milliseconds(500), bytesSent > 0 {
      facts.append(Human.rate(Double(bytesSent) / (duration / .seconds(1))))
    }
    if retries > 0 { facts.append(retries == 1 ? "1 retry" : "\(retries) retries") }
    // Names are not cut, because scripts read them.
    let name = source == "-" ? "standard input" : SafeText.oneLine(source, limit: .max)
    let target = SafeText.oneLine("s3://\(bucket)/\(key)", limit: .max)
    return "uploaded \(name) to \(target) (\(facts.joined(separator: ", "))\(proof))"
  }
}

extension UploadedObject {
  func summary(duration: Duration) -> UploadSummary {
    UploadSummary(
      size: size, etag: etag, versionID: versionID,
      checksum: checksum.map {
        UploadSummary.Checksum(
          algorithm: $0.algorithm, type: $0.type.rawValue, value: $0.value)
      }, parts: parts, bytesSent: bytesSent, bytesResumed: bytesResumed, retries: retries, duration: duration,
      requestID: requestID, evidence: evidence)
  }
}
