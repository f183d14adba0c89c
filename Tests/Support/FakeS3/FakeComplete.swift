import Foundation
@testable import MultipartCore

/// CompleteMultipartUpload: the list of parts, the conditions, the checksums, and the answer in its forms.
extension FakeServer {
  func complete(
    _ head: HTTPHead, _ route: FakeRoute, _ admitted: Admitted, _ body: ReceivedBody
  ) throws(FakeS3Error) -> HTTPAnswer {
    let named = try Self.namedParts(body.bytes)
    return try guarded { state throws(FakeS3Error) in
      let options = state.options
      if options.repeatedComplete == .success, let id = route.uploadID, let answer = state.finished[id] {
        return answer
      }
      let upload = try Self.upload(route, in: state)
      let parts = try Self.match(named, upload, options)
      if options.conditionsAtComplete { try Self.checkConditions(head, route, state) }
      let size = parts.reduce(0) { $0 + $1.size }
      try Self.checkSize(head.headers["x-amz-mp-object-size"], size)
      let checksum = try Self.checksum(head, upload, parts, admitted.sent, options)
      let digests = parts.flatMap { Self.digest($0.etag) }
      let object = FakeObject(
        bucket: route.bucket, key: route.key, size: size, etag: "\(hex(FakeHash.md5.of(digests)))-\(parts.count)",
        headers: upload.headers, completeHeaders: head.headers, checksum: checksum, parts: parts,
        versionID: options.versioning ? Self.requestID(state.next()) : nil, modified: state.now, uploadID: upload.id,
        customerKey: upload.customerKey, content: options.storage == .memory ? Self.join(parts) : nil)
      state.put(object)
      if !options.listsCompleted { state.uploads[upload.id] = nil }
      let answer = Self.completed(object, head, options)
      state.finished[upload.id] = answer
      return answer
    }
  }

  private struct NamedPart {
    var number: Int
    var etag: String
    var checksums: [FakeChecksum: String]
  }

  private static func namedParts(_ bytes: Data) throws(FakeS3Error) -> [NamedPart] {
    let malformed = FakeS3Error(
      .malformedXML, "The XML you provided was not well-formed or did not validate against our published schema")
    guard let root = XMLReader.read([UInt8](bytes)), root.name == "CompleteMultipartUpload", !root.children.isEmpty,
      root.children.count <= 10_000
    else { throw malformed }
    var parts: [NamedPart] = []
    for child in root.children {
      guard child.name == "Part", let number = child["PartNumber"].flatMap({ Int($0) }), let etag = child["ETag"]
      else { throw malformed }
      var checksums: [FakeChecksum: String] = [:]
      for algorithm in FakeChecksum.allCases { checksums[algorithm] = child[algorithm.element] }
      parts.append(NamedPart(number: number, etag: unquoted(etag), checksums: checksums))
    }
    return parts
  }

  static func unquoted(_ etag: String) -> String {
    etag.count >= 2 && etag.hasPrefix("\"") && etag.hasSuffix("\"") ? String(etag.dropFirst().dropLast()) : etag
  }

  private static func match(
    _ named: [NamedPart], _ upload: FakeUpload, _ options: FakeOptions
  ) throws(FakeS3Error) -> [FakePart] {
    for (one, next) in zip(named, named.dropFirst()) where one.number >= next.number {
      throw FakeS3Error(
        .invalidPartOrder, "The list of parts was not in ascending order. Parts must be ordered by part number.",
        details: [("UploadId", upload.id)])
    }
    var parts: [FakePart] = []
    for name in named {
      guard let part = upload.parts[name.number], part.etag == name.etag,
        name.checksums.allSatisfy({ $0.key == part.algorithm && $0.value == part.checksumValue })
          || options.checksums != .verified
      else {
        throw FakeS3Error(
          .invalidPart,
          "One or more of the specified parts could not be found. The part may not have been uploaded, or the "
            + "specified entity tag may not match the part's entity tag.",
          details: [("UploadId", upload.id), ("PartNumber", String(name.number)), ("ETag", name.etag)])
      }
      if upload.checksumType == .composite, let algorithm = upload.algorithm, name.checksums.isEmpty {
        throw FakeS3Error(
          .invalidRequest,
          "The upload was created using a \(algorithm.rawValue) checksum. The complete request must include the "
            + "checksum for each part. It was missing for part \(name.number) in the request.")
      }
      parts.append(part)
    }
    for part in parts.dropLast() where part.size < options.minimumPartSize {
      throw FakeS3Error(
        .entityTooSmall, "Your proposed upload is smaller than the minimum allowed size",
        details: [
          ("PartNumber", String(part.number)), ("ProposedSize", String(part.size)),
          ("MinSizeAllowed", String(options.minimumPartSize)), ("ETag", part.etag),
        ])
    }
    if options.wantsEqualParts, Set(parts.dropLast().map(\.size)).count > 1 {
      throw FakeS3Error(.invalidPart, "All non-trailing parts must have the same length.")
    }
    if options.refusesLeftOutParts, parts.count < upload.parts.count { throw FakeS3Error(.invalidPart, "InvalidPart") }
    // According to S3's documentation part numbers that are not consecutive end in a 500 if there are checksums.
    if upload.algorithm != nil, parts.map(\.number) != Array(1...parts.count) {
      throw FakeS3Error(.internalError, "We encountered an internal error. Please try again.")
    }
    return parts
  }

  /// Checks If-None-Match: * and If-Match, as PutObject and Complete accept them.
  static func checkConditions(_ head: HTTPHead, _ route: FakeRoute, _ state: FakeState) throws(FakeS3Error) {
    let object = state.objects[route.bucket]?[ObjectKey(route.key)]
    if let none = head.headers["if-none-match"] {
      guard none == "*" else {
        throw FakeS3Error(.notImplemented, "A header you provided implies functionality that is not implemented")
      }
      guard object == nil else { throw failed("If-None-Match") }
    }
    if let wanted = head.headers["if-match"] {
      guard let object else { throw FakeS3Error(.noSuchKey, "The specified key does not exist.") }
      guard (state.options.wantsBareETag ? wanted : unquoted(wanted)) == object.etag else { throw failed("If-Match") }
    }
  }

  private static func failed(_ condition: String) -> FakeS3Error {
    FakeS3Error(
      .preconditionFailed, "At least one of the pre-conditions you specified did not hold",
      details: [("Condition", condition)])
  }

  private static func checkSize(_ said: String?, _ size: Int) throws(FakeS3Error) {
    guard let said, Int(said) != size else { return }
    throw FakeS3Error(
      .invalidRequest,
      "The provided 'x-amz-mp-object-size' header value \(said) does not match what was computed: \(size)")
  }

  private static func checksum(
    _ head: HTTPHead, _ upload: FakeUpload, _ parts: [FakePart],
    _ sent: (algorithm: FakeChecksum, value: String)?, _ options: FakeOptions
  ) throws(FakeS3Error) -> FakeStoredChecksum? {
    guard options.checksums == .verified else { return nil }
    let algorithm = upload.algorithm ?? .crc64nvme
    let type = upload.checksumType ?? algorithm.defaultType
    if let typed = head.headers["x-amz-checksum-type"], typed != type.rawValue {
      throw FakeS3Error(.badDigest, "The checksum type \(typed) is not that of the upload: \(type.rawValue).")
    }
    if let sent, sent.algorithm != algorithm {
      throw FakeS3Error(
        .invalidRequest,
        "Checksum Type mismatch occurred, expected checksum Type: \(algorithm.rawValue), actual "
          + "checksum Type: \(sent.algorithm.rawValue)")
    }
    let known = parts.compactMap { part in part.checksum.map { (checksum: $0, length: part.size) } }
    guard known.count == parts.count else { return nil }
    let value = algorithm.whole(known, type)
    if let sent, sent.value != value, !(type == .composite && sent.value + "-\(parts.count)" == value) {
      throw FakeS3Error(.badDigest, "The \(algorithm.name) you specified did not match the calculated checksum.")
    }
    return FakeStoredChecksum(algorithm: algorithm, type: type, value: value)
  }

  private static func digest(_ etag: String) -> [UInt8] {
    etag.utf8.count == 32
      ? stride(from: 0, to: 32, by: 2).compactMap { at in
        UInt8(etag.dropFirst(at).prefix(2), radix: 16)
      } : Array(etag.utf8)
  }

  private static func join(_ parts: [FakePart]) -> Data {
    var whole = Data(capacity: parts.reduce(0) { $0 + $1.size })
    for part in parts { whole.append(part.content ?? Data()) }
    return whole
  }

  private static func completed(_ object: FakeObject, _ head: HTTPHead, _ options: FakeOptions) -> HTTPAnswer {
    let scheme = head.secure ? "https" : "http"
    let path = FakeURL.encode(object.key.utf8, keepSlash: true)
    var fields = [
      XMLNode("Location", "\(scheme)://\(head.headers["host"] ?? "")/\(object.bucket)/\(path)"),
      XMLNode("Bucket", object.bucket), XMLNode("Key", object.key),
    ]
    switch options.completeETag {
    case .quoted, .escaped: fields.append(XMLNode("ETag", "\"\(object.etag)\""))
    case .empty: fields.append(XMLNode("ETag", ""))
    case .unquoted: fields.append(XMLNode("ETag", object.etag))
    case .missing: break
    }
    if let checksum = object.checksum {
      fields.append(XMLNode(checksum.algorithm.element, checksum.value))
      fields.append(XMLNode("ChecksumType", checksum.type.rawValue))
    }
    var headers = encryption(of: object.headers, options)
    headers.add("x-amz-version-id", object.versionID)
    var answer = HTTPAnswer(200, xml: XMLNode("CompleteMultipartUploadResult", fields), headers: headers)
    if options.completeETag == .escaped {
      answer.bodyText = answer.bodyText.replacingOccurrences(of: "&quot;", with: "&#34;")
    }
    return answer
  }
}
