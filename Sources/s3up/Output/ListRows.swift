import MultipartBasics
import MultipartCore

/// The lines of a list, collected until a page is complete, because writing a million lines one by one is slow.
struct ListRows {
  private let options: ListOptions
  private let bucket: String
  private let isJSON: Bool
  private var bytes: [UInt8] = []

  init(_ options: ListOptions, bucket: String, isJSON: Bool) {
    self.options = options
    self.bucket = bucket
    self.isJSON = isJSON
  }

  mutating func taken() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  mutating func add(_ entry: ListedEntry) {
    switch entry {
    case .object(let object): isJSON ? addJSON(json(object)) : addLine(object, key: object.key)
    case .folder(let key):
      isJSON
        ? addJSON([("event", .string("folder")), ("bucket", .string(bucket)), ("key", .string(key))])
        : addLine(nil, key: key)
    }
  }

  mutating func add(_ listed: ListedBucket) {
    guard !isJSON else {
      return addJSON([
        ("event", .string("bucket")), ("bucket", .string(listed.name)), ("created", .optional(listed.created?.iso8601)),
        ("region", .optional(listed.region)),
      ])
    }
    if options.isLong { addColumns([Self.left(listed.created?.iso8601, 20), Self.left(listed.region, 14)]) }
    addName(listed.name)
  }

  // MARK: - Lines

  /// Adds a line; a folder has no object.
  private mutating func addLine(_ object: ListedObject?, key: String) {
    if options.isLong {
      let size = object?.size.map { options.isHuman ? Human.size($0).filter { $0 != " " } : String($0) }
      addColumns([
        Self.right(size, options.isHuman ? 8 : 15), Self.left(object?.lastModified?.iso8601, 20),
        Self.left(object?.storageClass, 12), Self.left(object?.etag, 37),
      ])
    }
    if options.versions {
      addColumns([Self.left(object?.version?.id, 32), Self.left(object?.version.map(Self.state), 13)])
    }
    addName(key)
  }

  private mutating func addColumns(_ columns: [String]) {
    for column in columns {
      bytes += column.utf8
      bytes.append(0x20)
    }
  }

  private mutating func addName(_ name: String) {
    bytes += (options.endsWithZero ? name : SafeText.oneLine(name, limit: .max)).utf8
    bytes.append(options.endsWithZero ? 0 : 0x0a)
  }

  private mutating func addJSON(_ fields: [(String, JSON)]) {
    bytes += JSON.object(fields).encoded.utf8
    bytes.append(0x0a)
  }

  private static func left(_ text: String?, _ width: Int) -> String { padded(word(text), width, after: true) }
  private static func right(_ text: String?, _ width: Int) -> String { padded(word(text), width, after: false) }

  /// A column, which is always one word, because `awk` and `cut` count them.
  private static func word(_ text: String?) -> String {
    guard let text, !text.isEmpty else { return "-" }
    let safe = SafeText.oneLine(text, limit: .max)
    guard safe.utf8.contains(0x20) else { return safe }
    return String(decoding: safe.utf8.map { $0 == 0x20 ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
  }

  private static func padded(_ text: String, _ width: Int, after: Bool) -> String {
    let space = String(repeating: " ", count: max(0, width - text.utf8.count))
    return after ? text + space : space + text
  }

  private static func state(_ version: ListedObject.Version) -> String {
    switch (version.isLatest, version.isDeleteMarker) {
    case (true, false): "latest"
    case (false, false): "older"
    case (true, true): "deleted"
    case (false, true): "deleted-older"
    }
  }

  // MARK: - JSON

  private func json(_ object: ListedObject) -> [(String, JSON)] {
    var fields = JSON.object(
      bucket: bucket, key: object.key, size: object.size, etag: object.etag, modified: object.lastModified,
      storageClass: object.storageClass)
    if let version = object.version {
      fields += [
        ("version_id", .string(version.id)), ("latest", .bool(version.isLatest)),
        ("deleted", .bool(version.isDeleteMarker)),
      ]
    }
    return fields
  }
}
