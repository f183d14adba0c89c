import MultipartBasics
import MultipartCore

/// The line that reports the outcome of an object. Names are not cut, because scripts read them.
extension UploadedObject {
  func line(source: String, bucket: String, key: String, took: Duration) -> String {
    let file = SafeText.oneLine(source, limit: .max)
    let target = SafeText.oneLine("s3://\(bucket)/\(key)", limit: .max)
    switch outcome {
    // `uploaded FILE to s3://b/k (1.0 GiB in 128 parts, 12.3 s, 83 MiB/s; proven by CRC64NVME)`
    case .completed, .planned: return "uploaded \(moved(file, target, took))"
    // `unchanged FILE at s3://b/k (1.0 GiB; CRC64NVME abc= matches the file)`
    case .unchanged: return "unchanged \(file) at \(target) (\(Human.size(size)); \(SafeText.oneLine(evidence)))"
    // `skipped FILE: the object already exists: s3://b/k`
    case .skipped: return "skipped \(file): \(evidence): \(target)"
    // `sent 12 parts of FILE to s3://b/k (96 MiB, 2.1 s, 45 MiB/s); 84 parts of other shares are missing`
    case .shared(let missing):
      return "sent \(Human.count(parts, "part")) of \(moved(file, target, took)); "
        + "\(Human.count(missing, "part")) of other shares \(missing == 1 ? "is" : "are") missing"
    }
  }

  private func moved(_ file: String, _ target: String, _ took: Duration) -> String {
    let facts = Human.facts(
      Human.size(size) + (parts > 1 ? " in \(Human.count(parts, "part"))" : ""), resumed: bytesResumed,
      moved: bytesSent, took: took, retries: retries)
    return "\(file == "-" ? "standard input" : file) to \(target) (\(facts)\(Human.proof(evidence, checksum)))"
  }
}

extension DownloadedObject {
  /// `downloaded s3://b/k to FILE (1.0 GiB, 12.3 s, 83 MiB/s; proven by CRC64NVME)`. The source is `s3://BUCKET/KEY`, or a
  /// URL without its query.
  func line(source: String, destination: String, took: Duration) -> String {
    let object = SafeText.oneLine(source, limit: .max)
    let file = SafeText.oneLine(destination, limit: .max)
    switch outcome {
    case .unchanged: return "unchanged \(file) from \(object) (\(Human.size(size)); \(SafeText.oneLine(evidence)))"
    case .skipped: return "skipped \(file): \(SafeText.oneLine(evidence))"
    case .completed, .planned: break
    }
    let facts = Human.facts(
      Human.size(size), resumed: bytesResumed, moved: bytesReceived, took: took, retries: retries)
    return "downloaded \(object) to \(file) (\(facts)\(Human.proof(evidence, checksum)))"
  }
}

extension VerifiedObject {
  /// `verified FILE is s3://b/k (1.0 GiB, 12.3 s; CRC64NVME abc= matches the file)`
  func line(source: String, bucket: String, key: String, took: Duration) -> String {
    let names = [source, "s3://\(bucket)/\(key)"].map { SafeText.oneLine($0, limit: .max) }
    return "verified \(names[0]) is \(names[1]) (\(Human.size(size)), \(Human.duration(took)); "
      + "\(SafeText.oneLine(evidence)))"
  }
}

extension Human {
  /// The proof in short: `proven by CRC64NVME`, or `proven by ETag, which is the MD5 of the bytes`. Weaker evidence is
  /// printed as it is.
  static func proof(_ evidence: String, _ checksum: ObjectChecksum?) -> String {
    if evidence.isEmpty { return "" }
    if let checksum, evidence.begins(with: checksum.name) { return "; proven by " + checksum.name }
    let text = SafeText.oneLine(evidence)
    guard evidence.begins(with: "ETag ") || evidence.begins(with: "MD5 "), !evidence.holds("shows no checksum"),
      let verb = [" matches ", " is "].compactMap({ text.utf8.firstRange(of: $0.utf8) }).first
    else { return "; " + text }
    return "; proven by \(text[..<verb.lowerBound]), which" + text[verb.lowerBound...]
  }

  fileprivate static func facts(
    _ size: String, resumed: Int64, moved: Int64, took: Duration, retries: Int
  ) -> String {
    var facts = [size]
    if resumed > 0 { facts.append("\(Human.size(resumed)) of it resumed") }
    facts.append(duration(took))
    // The rate of a few milliseconds is meaningless.
    if took >= .milliseconds(500), moved > 0 { facts.append(rate(Double(moved) / (took / .seconds(1)))) }
    if retries > 0 { facts.append(retries == 1 ? "1 retry" : "\(retries) retries") }
    return facts.joined(separator: ", ")
  }
}
