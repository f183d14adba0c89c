import MultipartBasics
import MultipartCore

/// What is known about one object, as `head` prints it.
struct ObjectFacts {
  private let description: ObjectDescription
  private let url: S3URL
  private var object: ObjectInfo { description.object }
  private var key: String { url.key ?? "" }

  init(_ description: ObjectDescription, _ url: S3URL) { (self.description, self.url) = (description, url) }

  /// One fact on each line: its name, which is one word, and its value.
  var lines: [String] {
    var facts: [(name: String, value: String)] = [("object", "s3://\(url.bucket)/\(key)")]
    func add(_ name: String, _ value: String?) { if let value { facts.append((name, value)) } }
    add("size", object.size.map { $0 < 1024 ? "\($0)" : "\($0) (\(Human.size($0)))" })
    add("modified", object.lastModified?.iso8601)
    add("etag", object.etag)
    add("version", object.versionID)
    add("type", object.contentType)
    for sum in object.sums { add("checksum", "\(sum.algorithm) \(sum.value)" + (sum.type.map { " (\($0))" } ?? "")) }
    add("parts", parts)
    add("storage-class", object.storageClass)
    add("encryption", encryption)
    for pair in object.metadata { add("metadata", "\(pair.name): \(pair.value)") }
    for tag in description.tags ?? [] { add("tag", "\(tag.name)=\(tag.value)") }
    add("retention", description.retention.map { $0.mode + ($0.until.map { " until \($0)" } ?? "") })
    add("legal-hold", description.legalHold)
    for header in object.others { add(header.name, header.value) }
    for (name, why) in unknown { add("unknown", "\(name): \(why)") }
    return facts.map { Self.padded(SafeText.oneLine($0.name)) + " " + SafeText.oneLine($0.value, limit: .max) }
  }

  private static func padded(_ name: String) -> String {
    name + String(repeating: " ", count: max(0, 14 - name.utf8.count))
  }

  private var parts: String? {
    guard let count = description.parts else { return nil }
    return "\(count)" + (description.partSize.map { count > 1 ? ", the first of \($0) bytes" : "" } ?? "")
  }

  private var encryption: String? {
    let info = object.encryption
    let words =
      [info.algorithm, info.customerAlgorithm.map { "SSE-C \($0)" }, info.kmsKeyID.map { "key \($0)" }].compactMap {
        $0
      }
      + (info.bucketKey ? ["bucket key"] : [])
    return words.isEmpty ? nil : words.joined(separator: ", ")
  }

  private var unknown: [(String, String)] {
    ObjectDescription.Property.allCases.compactMap { property in
      description.unknown[property].map { (property.rawValue, $0) }
    }
  }

  var json: String {
    let info = object.encryption
    let isEncrypted = info.algorithm != nil || info.customerAlgorithm != nil
    return JSON.object(
      JSON.object(
        bucket: url.bucket, key: key, size: object.size, etag: object.etag, modified: object.lastModified,
        storageClass: object.storageClass) + [
          ("version_id", .optional(object.versionID)), ("content_type", .optional(object.contentType)),
          (
            "checksums",
            .array(
              object.sums.map { sum in
                .object([
                  ("algorithm", .string(sum.algorithm)), ("type", .optional(sum.type)), ("value", .string(sum.value)),
                ])
              })
          ),
          ("parts", .optional(description.parts)), ("part_size", description.partSize.map { .int($0) } ?? .null),
          (
            "encryption",
            isEncrypted
              ? .object([
                ("algorithm", .optional(info.algorithm)), ("kms_key_id", .optional(info.kmsKeyID)),
                ("bucket_key", .bool(info.bucketKey)), ("customer_algorithm", .optional(info.customerAlgorithm)),
              ]) : .null
          ),
          ("metadata", Self.named(object.metadata)), ("tags", description.tags.map(Self.named) ?? .null),
          (
            "retention",
            description.retention.map { .object([("mode", .string($0.mode)), ("until", .optional($0.until))]) } ?? .null
          ),
          ("legal_hold", .optional(description.legalHold)),
          ("headers", .object(object.others.map { ($0.name, .string($0.value)) })),
          ("unknown", .object(unknown.map { ($0.0, .string($0.1)) })), ("request_id", .optional(object.requestID)),
        ]
    ).encoded
  }

  private static func named(_ pairs: [NamedValue]) -> JSON { .object(pairs.map { ($0.name, .string($0.value)) }) }
}

extension JSON {
  /// The fields of an object that `ls` and `head` print.
  static func object(
    bucket: String, key: String, size: Int64?, etag: String?, modified: Timestamp?, storageClass: String?
  ) -> [(String, JSON)] {
    [
      ("event", .string("object")), ("bucket", .string(bucket)), ("key", .string(key)),
      ("size", size.map { .int($0) } ?? .null), ("etag", .optional(etag)),
      ("last_modified", .optional(modified?.iso8601)), ("storage_class", .optional(storageClass)),
    ]
  }
}
