/// Whether what a store says about an object shows that it is the source.
///
/// A different size or checksum shows that it is not. An ETag alone never does: after an upload in parts some stores
/// give the MD5 of the whole object, others an opaque value.
package enum Verdict {
  package static func judge(_ expected: Expectation, _ reported: ReportedObject) -> Judgement {
    if let size = reported.size, size != expected.size {
      return .contradicted(message: "the object has \(size) bytes, the source \(expected.size)")
    }
    if let sum = expected.sum, let given = reported.checksums[sum.algorithm.headerName],
      comparable(sum, given, reported)
    {
      guard given.utf8.elementsEqual(sum.value.utf8) else {
        return .contradicted(message: "the object's \(sum.title) is \(given), the source's \(sum.value)")
      }
      return .proven(evidence: "\(sum.title) of the object, given back by the store")
    }
    if let etag = expected.etag, let given = reported.etag.flatMap(ETag.init), given == etag {
      return .proven(evidence: evidence(of: given, expected))
    }
    // By its size alone an object of other parts would pass for this one.
    if let parts = reported.parts, parts != expected.parts {
      return .notOurs(message: "the object at the key was made of \(parts) parts, this one of \(expected.parts)")
    }
    return .undecided(weak: weak(expected))
  }

  /// A checksum over other parts, or of the other type, says nothing.
  private static func comparable(_ sum: ObjectChecksum, _ given: String, _ reported: ReportedObject) -> Bool {
    if let type = reported.checksumType, !type.isEmpty {
      return ChecksumType(awsName: type) == sum.type
    }
    return given.utf8.contains(UInt8(ascii: "-")) == (sum.type == .composite)
  }

  /// The ETag of the parts shows that the store assembled what it acknowledged; the proof of each part says what that
  /// was.
  private static func evidence(of etag: ETag, _ expected: Expectation) -> String {
    guard etag.isMultipart else { return "ETag of the object is the MD5 of the bytes" }
    let whole = "ETag of the object is made of its parts'"
    return switch expected.weakest {
    case .checksum: whole + ", each by a checksum given back by the store"
    case .etag: whole + ", each the MD5 of its bytes"
    case .signedPayload: whole + ", each by a SHA-256 that was signed"
    case .contentMD5: whole + ", each by a Content-MD5 that was accepted"
    case .none: whole + "; the store verified no checksum of them"
    }
  }

  private static func weak(_ expected: Expectation) -> String {
    let each = expected.parts > 1 ? "each part" : "the bytes"
    return switch expected.weakest {
    case .checksum: "size of the object; \(each) by a checksum given back by the store"
    case .etag: "size of the object; \(each) by an ETag that is the MD5"
    case .signedPayload: "size of the object; \(each) by a SHA-256 that was signed"
    case .contentMD5: "size of the object; \(each) by a Content-MD5 that was accepted"
    case .none: "size of the object; the store verified no checksum"
    }
  }
}

extension ReportedObject {
  /// As a header or the ETag says.
  fileprivate var parts: Int? {
    if let partsCount { return partsCount }
    if case .multipart(_, let parts)? = etag.flatMap(ETag.init)?.form { return parts }
    return nil
  }
}

extension ETag {
  var isMultipart: Bool {
    if case .multipart = form { return true }
    return false
  }
}

/// What an answer about the object says about whether it is the source.
package enum Judgement: Sendable, Equatable {
  /// It is, and this is the evidence.
  case proven(evidence: String)
  /// It may be, but the answer alone does not show it. `weak` is the evidence if complete itself reported success.
  case undecided(weak: String)
  /// There is no object.
  case absent
  /// It may hold the bytes, but this run has not created it, or cannot know that it has.
  case notOurs(message: String)
  /// It is not.
  case contradicted(message: String)
}
