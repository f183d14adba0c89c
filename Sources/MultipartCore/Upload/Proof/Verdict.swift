/// Whether what a store says about an object shows that it is the source.
///
/// A different size or checksum shows that it is not. An ETag alone does not: after an upload in parts some stores give
/// the MD5 of the whole object, others an opaque value. The exception is an upload that others may fill with any bytes and
/// complete too (`isOpen`): an ETag of S3's form that is not that of the parts is then another file's, because SeaweedFS
/// answers a second completion with the result of the first, whatever its parts.
enum Verdict {
  static func judge(_ expected: Expectation, _ reported: ReportedObject, isOpen: Bool = false) -> Judgement {
    if let size = reported.size, size != expected.size {
      return .contradicted(message: "the object has \(size) bytes, the source \(expected.size)")
    }
    if let sum = expected.sum, let given = reported.counterpart(of: sum) {
      guard given.utf8.elementsEqual(sum.value.utf8) else {
        return .contradicted(message: "the object's \(sum.title) is \(given), the source's \(sum.value)")
      }
      return .proven(evidence: "\(sum.title) matches the store's")
    }
    if let etag = expected.etag, let given = reported.parsedETag, given == etag {
      return .proven(evidence: evidence(of: given, expected))
    }
    // Judged by its size alone, an object of other parts could pass for this one.
    if let parts = reported.parts, parts != expected.parts {
      return .notOurs(message: "the object at the key was made of \(parts) parts, this one of \(expected.parts)")
    }
    if isOpen, expected.weakest == .etag, let etag = expected.etag, let given = reported.etagOfParts {
      return .contradicted(
        message:
          "the object's ETag is \(given.value), that of these parts \(etag.value): another file was uploaded with this ticket"
      )
    }
    return .undecided(weak: weak(expected))
  }

  /// The ETag of the parts shows that the store assembled what it acknowledged; the proof of each part says what that
  /// was.
  private static func evidence(of etag: ETag, _ expected: Expectation) -> String {
    guard etag.parts != nil else { return "ETag is the MD5 of the bytes" }
    let whole = "ETag matches the parts"
    return switch expected.weakest {
    case .checksum: whole + ", whose checksums the store returned"
    case .etag: whole + ", each of whose ETags is the MD5 of its bytes"
    case .signedPayload: whole + ", each sent with a signed SHA-256"
    case .contentMD5: whole + ", each accepted with a Content-MD5"
    case .none: whole + "; the store shows no checksum of them"
    }
  }

  private static func weak(_ expected: Expectation) -> String {
    let each = expected.parts > 1 ? "each part" : "the bytes"
    return switch expected.weakest {
    case .checksum: "object size matches; the store returned the checksum of \(each)"
    case .etag: "object size matches; the store's ETag of \(each) is the MD5"
    case .signedPayload: "object size matches; a SHA-256 of \(each) was signed"
    case .contentMD5: "object size matches; the store accepted a Content-MD5 of \(each)"
    case .none: "object size matches; the store shows no checksum"
    }
  }
}

extension ReportedObject {
  /// The number of parts, from a header or the ETag.
  fileprivate var parts: Int? { partsCount ?? parsedETag?.parts }

  /// The ETag if S3 would have computed it from the parts' MD5s. In capitals, as Alibaba's OSS writes it, it is computed
  /// in another way.
  fileprivate var etagOfParts: ETag? {
    guard let parsed = parsedETag, parsed.parts != nil else { return nil }
    return etag?.utf8.contains { 0x41...0x46 ~= $0 } == true ? nil : parsed
  }
}

/// What an answer about the object says about whether it is the source.
enum Judgement: Sendable, Equatable {
  /// It is the source, with this evidence.
  case proven(evidence: String)
  /// It may be, but the answer alone does not show it. `weak` is the evidence if complete itself reported success.
  case undecided(weak: String)
  /// The object does not exist.
  case absent
  /// The object may have the bytes, but this run did not create it, or cannot know that it did.
  case notOurs(message: String)
  /// It is not the source.
  case contradicted(message: String)
}
