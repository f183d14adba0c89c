import MultipartBasics

/// Where a ticket's requests go, read from their common URL and compared with the bucket and key that the ticket names.
/// The names are only labels: the store acts on the URL, and the two must agree.
///
/// | host | where the bucket is | what may be before it in the path |
/// | --- | --- | --- |
/// | AWS's, `s3…` | in the path | nothing |
/// | AWS's, `bucket.s3…`, or an access point's | in the host | nothing |
/// | any other | in the host or in the path | the path of an endpoint, which `endpoint` shows |
struct TicketAddress {
  /// The URL without bucket and key, which is shown to the user who uploads.
  let endpoint: String

  /// Parses the URL; nil if it is that of another bucket or key.
  init?(_ url: String, bucket: String, key: String) {
    let origin = String(AddressBook.origin(of: url))
    let path = PercentEncoding.bytes(of: Array(url.utf8.dropFirst(origin.utf8.count)))
    guard let host = origin.cut(at: "://")?.after.lowercased() else { return nil }
    let isInHost = Self.isInHost(host, bucket)
    let partitions = Partition.all(ofHost: host)
    var base: ArraySlice<UInt8>?
    // At AWS the host shows where the bucket is; elsewhere it may be any host, and both forms are tried.
    let usesPath = partitions.lazy.compactMap { S3Host(host, bucket: bucket, partition: $0)?.usesPath }.first
    if usesPath ?? partitions.isEmpty { base = Self.front(of: path, before: "/\(bucket)/\(key)") }
    if base == nil, usesPath != true, isInHost { base = Self.front(of: path, before: "/\(key)") }
    guard let base, base.isEmpty || partitions.isEmpty else { return nil }
    endpoint = origin + PercentEncoding.path(String(decoding: base, as: UTF8.self))
  }

  private static func front(of path: [UInt8], before end: String) -> ArraySlice<UInt8>? {
    path.suffix(end.utf8.count).elementsEqual(end.utf8) ? path.dropLast(end.utf8.count) : nil
  }

  /// Whether the host contains the bucket; for an access point's ARN it has its name and account there.
  private static func isInHost(_ host: String, _ bucket: String) -> Bool {
    var label = bucket
    if let arn = ARN(bucket), let name = arn.resource.last { label = "\(name)-\(arn.account)" }
    return host.begins(with: (label + "."))
  }
}

/// The query of a presigned request: what the operation needs, and the parameters of the signature.
struct TicketQuery {
  private static let signature: Set<String> = [
    "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders", "X-Amz-Security-Token",
    "X-Amz-Signature",
  ]

  /// Whether the query has each of these once, and nothing else.
  static func says(_ query: String, _ wanted: [String: String]) -> Bool {
    var seen: Set<String> = []
    for item in URLQuery.items(Array(query.utf8)[...]) {
      let name = String(decoding: PercentEncoding.bytes(of: Array(item.name)), as: UTF8.self)
      guard seen.insert(name).inserted else { return false }
      if signature.contains(name) { continue }
      let value = PercentEncoding.bytes(of: Array(item.value ?? []))
      guard let known = wanted[name], value.elementsEqual(known.utf8) else { return false }
    }
    return wanted.keys.allSatisfy(seen.contains)
  }
}
