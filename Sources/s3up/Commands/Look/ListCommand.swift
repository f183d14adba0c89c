import MultipartBasics
import MultipartCore

/// `s3up ls [s3://BUCKET[/PREFIX]]`
struct ListCommand {
  private let session: Session
  private let options: ListOptions

  init(_ session: Session) throws(Failure) {
    self.session = session
    options = try ListOptions(session.invocation)
  }

  func run() async throws(Failure) {
    let url = try session.invocation.place()
    do throws(Failure) {
      if let url { try await list(url) } else { try await listBuckets() }
    } catch {
      guard !StandardOutput.hasNoReader else { return }
      throw error
    }
  }

  private func list(_ url: S3URL) async throws(Failure) {
    let prefix = url.key ?? ""
    let place = Place(bucket: url.bucket, key: prefix.isEmpty ? nil : prefix)
    do throws(Failure) {
      let store = try await session.store(url.bucket)
      let pages = store.list(
        prefix: prefix, delimiter: options.isRecursive ? nil : "/", versions: options.versions
      ).pages
      var rows = ListRows(options, bucket: url.bucket, isJSON: session.output.json != nil)
      var isEmpty = true
      for try await page in pages {
        for entry in page { rows.add(entry) }
        isEmpty = isEmpty && page.isEmpty
        try StandardOutput.write(rows.taken())
      }
      guard !isEmpty || prefix.isEmpty else {
        throw Failure(
          .refused, "no key begins with this",
          remedy: prefix.holds("*")
            ? "s3up ls takes a prefix, not a pattern: s3up ls \(Self.folder(of: prefix, in: url.bucket)) lists what is below it."
            : "s3up ls s3://\(url.bucket) shows what is in the bucket.")
      }
    } catch {
      throw error.at(place)
    }
  }

  /// The last folder before the pattern.
  private static func folder(of prefix: String, in bucket: String) -> String {
    let bytes = prefix.upTo("*").utf8
    let end = bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes.index(after: $0) } ?? bytes.startIndex
    return ShellWord.quoted(SafeText.oneLine("s3://\(bucket)/" + String(decoding: bytes[..<end], as: UTF8.self)))
  }

  private func listBuckets() async throws(Failure) {
    for name in [FlagName.recursive, .versions] where session.invocation.toggle(name) == true {
      throw Failure(
        .usage, "\(name.long) needs a bucket", remedy: "Write s3up ls \(name.long) s3://BUCKET.")
    }
    var rows = ListRows(options, bucket: "", isJSON: session.output.json != nil)
    for bucket in try await Store.buckets(session.storeOptions) { rows.add(bucket) }
    try StandardOutput.write(rows.taken())
  }
}
