import Foundation
import MultipartCore

/// The lists, in pages, with S3's markers.
extension FakeServer {
  private static func limit(_ head: HTTPHead, _ name: String, _ state: FakeState) throws(FakeS3Error) -> Int {
    guard let text = head.query(name) else { return state.options.pageLimit }
    guard let number = Int(text), number >= 0 else {
      throw FakeS3Error(.invalidArgument, "Provided \(name) not an integer or within integer range")
    }
    return min(number, state.options.pageLimit)
  }

  private static func time(_ moment: Timestamp) -> String { String(moment.iso8601.dropLast()) + ".000Z" }

  func listParts(_ head: HTTPHead, _ route: FakeRoute) throws(FakeS3Error) -> HTTPAnswer {
    try guarded { state throws(FakeS3Error) in
      let upload = try Self.upload(route, in: state)
      let kind = state.options.listParts
      let most = kind == .onePage ? .max : try Self.limit(head, "max-parts", state)
      let marker = kind == .endless ? 0 : head.query("part-number-marker").flatMap { Int($0) } ?? 0
      let rest = upload.parts.values.sorted { $0.number < $1.number }
        .filter { kind == .onePage || $0.number > marker || (kind == .inclusiveMarker && $0.number == marker) }
      let page = rest.prefix(most)
      var fields = [
        XMLNode("Bucket", upload.bucket), XMLNode("Key", upload.key), XMLNode("UploadId", upload.id),
        XMLNode("PartNumberMarker", String(marker)),
      ]
      let truncated = page.count < rest.count
      if kind != .noMarker, kind != .onePage, let last = page.last {
        fields.append(XMLNode("NextPartNumberMarker", String(last.number)))
      }
      if kind != .onePage {
        fields.append(XMLNode("MaxParts", String(most)))
        fields.append(XMLNode("IsTruncated", String(truncated)))
      }
      if let algorithm = upload.algorithm, let type = upload.checksumType {
        fields += [XMLNode("ChecksumAlgorithm", algorithm.name), XMLNode("ChecksumType", type.rawValue)]
      }
      fields.append(XMLNode("StorageClass", upload.headers["x-amz-storage-class"] ?? "STANDARD"))
      for part in page {
        var inner = [
          XMLNode("PartNumber", String(part.number)), XMLNode("LastModified", Self.time(part.modified)),
          XMLNode("ETag", "\"\(part.etag)\""), XMLNode("Size", String(part.size)),
        ]
        if let algorithm = part.algorithm, let value = part.checksumValue {
          inner.append(XMLNode(algorithm.element, value))
        }
        fields.append(XMLNode("Part", inner))
      }
      var headers = HeaderList()
      headers.add("x-amz-abort-date", state.options.abortDate)
      return HTTPAnswer(200, xml: XMLNode("ListPartsResult", fields), headers: headers)
    }
  }

  func listUploads(_ head: HTTPHead, _ route: FakeRoute) throws(FakeS3Error) -> HTTPAnswer {
    try guarded { state throws(FakeS3Error) in
      let most = try Self.limit(head, "max-uploads", state)
      let isCeph = state.options.listedKeys == .asCeph
      let prefix = Array((head.query("prefix") ?? "").utf8)
      let marker = head.query("key-marker").map { ObjectKey($0) }
      let idMarker = head.query("upload-id-marker") ?? ""
      // The marker's place in the order; S3 sorts by key, then by the time of the start.
      let after = state.orders[idMarker]
      let rest = state.uploads.values.filter { upload in
        guard upload.bucket.utf8.elementsEqual(route.bucket.utf8), upload.key.utf8.starts(with: prefix) else {
          return false
        }
        guard let marker else { return true }
        let key = ObjectKey(upload.key)
        if key == marker, !idMarker.isEmpty { return upload.order > after ?? .max }
        return marker < key
      }.sorted { (ObjectKey($0.key), $0.order) < (ObjectKey($1.key), $1.order) }
      let page = rest.prefix(most)
      let truncated = page.count < rest.count
      var fields = [
        XMLNode("Bucket", route.bucket), XMLNode("KeyMarker", head.query("key-marker") ?? ""),
        XMLNode("UploadIdMarker", idMarker), XMLNode("Prefix", head.query("prefix") ?? ""),
        XMLNode("MaxUploads", String(most)), XMLNode("IsTruncated", String(truncated)),
      ]
      if truncated, let last = page.last {
        let key = isCeph ? last.key : Self.listed(last.key, head)
        fields += [XMLNode("NextKeyMarker", key), XMLNode("NextUploadIdMarker", last.id)]
      }
      if !isCeph, let encoding = head.query("encoding-type") { fields.append(XMLNode("EncodingType", encoding)) }
      for upload in page {
        var inner = [
          XMLNode("Key", Self.listed(upload.key, head, asCeph: isCeph)), XMLNode("UploadId", upload.id),
          XMLNode("StorageClass", upload.headers["x-amz-storage-class"] ?? "STANDARD"),
          XMLNode("Initiated", Self.time(upload.initiated)),
        ]
        if let algorithm = upload.algorithm, let type = upload.checksumType {
          inner += [XMLNode("ChecksumAlgorithm", algorithm.name), XMLNode("ChecksumType", type.rawValue)]
        }
        fields.append(XMLNode("Upload", inner))
      }
      return HTTPAnswer(200, xml: XMLNode("ListMultipartUploadsResult", fields))
    }
  }

  func listObjects(_ head: HTTPHead, _ route: FakeRoute) throws(FakeS3Error) -> HTTPAnswer {
    try guarded { state throws(FakeS3Error) in
      let most = try Self.limit(head, "max-keys", state)
      let isCeph = state.options.listedKeys == .asCeph
      let prefix = Array((head.query("prefix") ?? "").utf8)
      let token = head.query("continuation-token").flatMap { unbase64($0) }.map { String(decoding: $0, as: UTF8.self) }
      let after = (token ?? head.query("start-after")).map { ObjectKey($0) }
      let rest = (state.objects[route.bucket] ?? [:]).filter { key, _ in
        guard key.bytes.starts(with: prefix) else { return false }
        return after.map { $0 < key } ?? true
      }.sorted { $0.key < $1.key }.map(\.value)
      let page = rest.prefix(most)
      let truncated = page.count < rest.count
      var fields = [
        XMLNode("Name", route.bucket), XMLNode("Prefix", head.query("prefix") ?? ""),
        XMLNode("KeyCount", String(page.count)), XMLNode("MaxKeys", String(most)),
        XMLNode("IsTruncated", String(truncated)),
      ]
      if truncated, let last = page.last {
        fields.append(XMLNode("NextContinuationToken", base64(Array(last.key.utf8))))
      }
      if let encoding = head.query("encoding-type") { fields.append(XMLNode("EncodingType", encoding)) }
      for object in page {
        fields.append(
          XMLNode(
            "Contents",
            [
              XMLNode("Key", Self.listed(object.key, head, asCeph: isCeph, keepSlash: !isCeph)),
              XMLNode("LastModified", Self.time(object.modified)),
              XMLNode("ETag", "\"\(object.etag)\""), XMLNode("Size", String(object.size)),
              XMLNode("StorageClass", object.headers["x-amz-storage-class"] ?? "STANDARD"),
            ]))
      }
      return HTTPAnswer(200, xml: XMLNode("ListBucketResult", fields))
    }
  }

  private static func listed(
    _ key: String, _ head: HTTPHead, asCeph: Bool = false, keepSlash: Bool = true
  ) -> String {
    guard head.query("encoding-type") == "url" else { return key }
    let text = FakeURL.encode(key.utf8, keepSlash: keepSlash)
    guard asCeph else { return text }
    return "!$'()*|".unicodeScalars.reduce(text) { text, scalar in
      text.replacing(FakeURL.encode(String(scalar).utf8), with: String(scalar))
    }
  }
}
