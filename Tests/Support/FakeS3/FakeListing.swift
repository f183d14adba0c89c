import Foundation
@testable import MultipartCore

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
      // The marker's position in the order; S3 sorts by key, then by the time of the start.
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
      let isCeph = state.options.listedKeys == .asCeph
      let token = head.query("continuation-token").flatMap { unbase64($0) }.map { String(decoding: $0, as: UTF8.self) }
      let after = (token ?? head.query("start-after")).map { ObjectKey($0) }
      let objects = (state.objects[route.bucket] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
      let page = try Self.page(objects, head, state) { object, end in
        after.map { $0 < end ?? ObjectKey(object.key) } ?? true
      }
      var fields = [
        XMLNode("Name", route.bucket), XMLNode("Prefix", head.query("prefix") ?? ""),
        XMLNode("KeyCount", String(page.objects.count + page.folders.count)),
        XMLNode("MaxKeys", String(try Self.limit(head, "max-keys", state))),
        XMLNode("IsTruncated", String(page.isTruncated)),
      ]
      if page.isTruncated, let last = page.last {
        fields.append(XMLNode("NextContinuationToken", base64(Array(last.utf8))))
      }
      if let encoding = head.query("encoding-type") { fields.append(XMLNode("EncodingType", encoding)) }
      for object in page.objects {
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
      return HTTPAnswer(200, xml: XMLNode("ListBucketResult", fields + Self.folders(page, head)))
    }
  }

  func listVersions(_ head: HTTPHead, _ route: FakeRoute) throws(FakeS3Error) -> HTTPAnswer {
    try guarded { state throws(FakeS3Error) in
      var all: [ObjectKey: [FakeObject]] = state.former[route.bucket] ?? [:]
      for (key, object) in state.objects[route.bucket] ?? [:] { all[key, default: []].insert(object, at: 0) }
      let versions = all.sorted { $0.key < $1.key }.flatMap(\.value)
      let latest = Set(all.values.compactMap { $0.first.map { [$0.key, $0.versionID ?? "null"] } })
      let after = head.query("key-marker").map { ObjectKey($0) }
      let marker = head.query("version-id-marker")
      let start = versions.firstIndex { ObjectKey($0.key) == after && ($0.versionID ?? "null") == marker }
      let page = try Self.page(start.map { Array(versions[($0 + 1)...]) } ?? versions, head, state) { object, end in
        guard let after else { return true }
        return after < end ?? ObjectKey(object.key) || (start != nil && after == ObjectKey(object.key))
      }
      var fields = [XMLNode("Name", route.bucket), XMLNode("IsTruncated", String(page.isTruncated))]
      if let encoding = head.query("encoding-type") { fields.append(XMLNode("EncodingType", encoding)) }
      if page.isTruncated, let last = page.last {
        fields.append(XMLNode("NextKeyMarker", Self.listed(last, head)))
        if let object = page.objects.last, object.key.utf8.elementsEqual(last.utf8) {
          fields.append(XMLNode("NextVersionIdMarker", object.versionID ?? "null"))
        }
      }
      for object in page.objects {
        var inner = [
          XMLNode("Key", Self.listed(object.key, head)), XMLNode("VersionId", object.versionID ?? "null"),
          XMLNode("IsLatest", String(latest.contains([object.key, object.versionID ?? "null"]))),
          XMLNode("LastModified", Self.time(object.modified)),
        ]
        if !object.isDeleteMarker {
          inner += [XMLNode("ETag", "\"\(object.etag)\""), XMLNode("Size", String(object.size))]
        }
        fields.append(XMLNode(object.isDeleteMarker ? "DeleteMarker" : "Version", inner))
      }
      return HTTPAnswer(200, xml: XMLNode("ListVersionsResult", fields + Self.folders(page, head)))
    }
  }

  func listBuckets() -> HTTPAnswer {
    let (buckets, now) = state.with { ($0.options.buckets, $0.now) }
    let list = buckets.map { XMLNode("Bucket", [XMLNode("Name", $0), XMLNode("CreationDate", Self.time(now))]) }
    return HTTPAnswer(200, xml: XMLNode("ListAllMyBucketsResult", [XMLNode("Buckets", list)]))
  }

  private struct Page {
    var objects: [FakeObject] = []
    var folders: [String] = []
    var isTruncated = false
    /// The key of the last object or folder.
    var last: String?
  }

  /// Makes a page; `isWanted` is true for entries after the marker, and for a folder whose end is.
  private static func page(
    _ all: [FakeObject], _ head: HTTPHead, _ state: FakeState, isWanted: (FakeObject, ObjectKey?) -> Bool
  ) throws(FakeS3Error) -> Page {
    let most = try limit(head, "max-keys", state)
    let prefix = Array((head.query("prefix") ?? "").utf8)
    let delimiter = state.options.lists == .flat ? nil : head.query("delimiter").map { Array($0.utf8) }
    let isEndless = state.options.lists == .endless
    var page = Page()
    for object in all where object.key.utf8.starts(with: prefix) {
      let key = Array(object.key.utf8)
      let end = delimiter.flatMap { key[prefix.count...].firstRange(of: $0)?.upperBound }
      let folder = end.map { String(decoding: key[..<$0], as: UTF8.self) }
      guard isEndless || isWanted(object, folder.map { ObjectKey($0) }) else { continue }
      if let folder, page.folders.last?.utf8.elementsEqual(folder.utf8) == true { continue }
      guard page.objects.count + page.folders.count < most else {
        page.isTruncated = true
        break
      }
      if let folder { page.folders.append(folder) } else { page.objects.append(object) }
      page.last = folder ?? object.key
    }
    if isEndless { (page.isTruncated, page.last) = (true, "\(state.log.count)") }
    return page
  }

  private static func folders(_ page: Page, _ head: HTTPHead) -> [XMLNode] {
    page.folders.map { XMLNode("CommonPrefixes", [XMLNode("Prefix", listed($0, head))]) }
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
