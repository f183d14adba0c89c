import MultipartBasics

/// The ticket as a file: a JSON object on one line; a file of several lines has a ticket for each object of a batch.
extension Ticket {
  static let version: Int64 = 1
  /// The most bytes of a ticket: 10,000 URLs with the longest session tokens.
  public static let longestLine = 64 << 20

  /// Reads a ticket. It is refused if it could do anything but upload to the one address that it names.
  public init(contentsOf path: String) throws(Failure) {
    try self.init(try FilePath(path).contents(limit: Self.longestLine))
  }

  /// Reads a ticket from JSON, or from a script or page that contains it.
  public init(_ text: [UInt8]) throws(Failure) {
    let form = TicketForm(of: text)
    guard let document = form.document(in: text) else {
      if form == .json, Self.hasSeveral(text) {
        throw Failure(
          .configuration, "the file has several tickets, of the files of a folder",
          remedy: "upload the folder with it, or a file with a ticket of its own")
      }
      throw Self.damaged(
        form == .json
          ? "it is not JSON, or is incomplete" : "it contains no ticket, or is incomplete")
    }
    try self.init(document)
  }

  /// Whether the first two lines of the text are tickets.
  private static func hasSeveral(_ text: [UInt8]) -> Bool {
    let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 2).prefix(2)
    return lines.count == 2 && lines.allSatisfy { (try? Ticket(Array($0))) != nil }
  }

  init(_ document: JSON) throws(Failure) {
    guard let version = document["s3up_ticket"]?.integer else { throw Self.damaged("it has no version") }
    guard version == Self.version else {
      throw Failure(
        .configuration, "the ticket is of version \(version), and this program reads version \(Self.version)",
        remedy: "use the version of the program that issued it, or a newer one")
    }
    let fields = Fields(document)
    url = try fields.address()
    (bucket, key) = (try fields.text("bucket", most: 300), try fields.text("key", most: 4096))
    uploadID = try fields.text("upload_id", most: 4096)
    (created, expires) = (try fields.time("created"), try fields.time("expires"))
    file = document["file"] == nil ? nil : try fields.text("file", most: 4096)
    mark = document["mark"] == nil ? nil : try fields.text("mark", most: 200)
    length = try fields.length()
    partSize = try fields.integer("part_size")
    checksum = try fields.checksum()
    etagMayBeMD5 = document["etag_is_md5"] != .bool(false)
    if let requested = document["requested"] { asked = RequestedSettings(try Call.headers(requested, most: 256)) }
    guard let list = document["parts"]?.elements, !list.isEmpty, list.count <= S3Limits.mostParts else {
      throw Self.damaged("it has no parts, or more than \(S3Limits.mostParts)")
    }
    parts = []
    parts.reserveCapacity(list.count)
    let prefix = Array((url + "?").utf8)
    for (index, part) in list.enumerated() {
      guard part["part"]?.integer == Int64(index + 1) else { throw Self.damaged("its parts are not numbered") }
      parts.append(try Call(part, prefix, isOptional: true))
    }
    lists = []
    for (index, page) in (document["list"]?.elements ?? []).enumerated() {
      guard page["after"]?.integer == Int64(index * Self.pageLength) else {
        throw Self.damaged("its lists of parts are not in order")
      }
      lists.append(try Call(page, prefix))
    }
    complete = try Call(document["complete"] ?? .null, prefix)
    abort = try Call(document["abort"] ?? .null, prefix)
    head = try Call(document["head"] ?? .null, prefix)
    try checkPlan()
    try checkRequests()
  }

  /// The number of parts on each page of the list.
  public static let pageLength = S3Limits.pageLength

  static func damaged(_ what: String) -> Failure {
    Failure(
      .configuration, "the ticket cannot be used: \(what)", remedy: "ask its issuer for the file again")
  }

  private func checkPlan() throws(Failure) {
    let most: Int64
    switch length {
    case .exactly(let size), .upTo(let size): most = size
    }
    guard let plan = try? UploadPlan(inParts: most, of: partSize), plan.partCount == parts.count else {
      throw Self.damaged("its \(parts.count) parts of \(partSize) bytes do not make \(most)")
    }
    guard lists.count == (parts.count + Self.pageLength - 1) / Self.pageLength else {
      throw Self.damaged("its list of parts is incomplete")
    }
  }

  /// Checks that names and URLs agree. The names in a ticket are labels, and its URLs are what the store acts on. Every
  /// reader of a ticket relies on both, so both must name the same bucket, key, upload, and part or page of each
  /// request.
  private func checkRequests() throws(Failure) {
    guard TicketAddress(url, bucket: bucket, key: key) != nil else {
      throw Self.damaged("its URLs are not those of \(SafeText.oneLine("s3://\(bucket)/\(key)")), which it names")
    }
    func check(_ call: Call, _ what: String, _ query: [String: String]) throws(Failure) {
      guard let text = call.query, !TicketQuery.says(text, query) else { return }
      throw Self.damaged("the URL of \(what) is one of another request, or of another upload than it names")
    }
    let id = ["uploadId": uploadID]
    for (index, part) in parts.enumerated() {
      try check(part, "part \(index + 1)", ["uploadId": uploadID, "partNumber": String(index + 1)])
    }
    for (index, list) in lists.enumerated() {
      let page = ["part-number-marker": String(index * Self.pageLength), "max-parts": String(Self.pageLength)]
      try check(list, "its list of parts", page.merging(id) { $1 })
    }
    try check(complete, "its completion", id)
    try check(abort, "its abort", id)
    try check(head, "its HEAD", [:])
  }

  /// One line of JSON, without its line feed.
  public var json: String {
    func call(_ name: String? = nil, _ number: Int = 0, _ call: Call) -> JSON {
      var fields: [(String, JSON)] = []
      if let name { fields.append((name, .int(Int64(number)))) }
      if let query = call.query { fields.append(("url", .string(url + "?" + query))) }
      if !call.headers.fields.isEmpty {
        fields.append(("headers", .object(call.headers.fields.map { ($0.name, .string($0.value)) })))
      }
      return .object(fields)
    }
    var fields: [(String, JSON)] = [
      ("s3up_ticket", .int(Self.version)), ("url", .string(url)), ("bucket", .string(bucket)), ("key", .string(key)),
      ("upload_id", .string(uploadID)), ("created", .string(created.iso8601)), ("expires", .string(expires.iso8601)),
    ]
    if let file { fields.append(("file", .string(file))) }
    if let mark { fields.append(("mark", .string(mark))) }
    switch length {
    case .exactly(let size): fields.append(("size", .int(size)))
    case .upTo(let size): fields.append(("max_size", .int(size)))
    }
    fields += [
      ("part_size", .int(partSize)), ("checksum", .string(checksum.word)),
      ("etag_is_md5", .bool(etagMayBeMD5)),
    ]
    if !asked.isEmpty {
      fields.append(("requested", .object(asked.asked.fields.map { ($0.name.lowercased(), .string($0.value)) })))
    }
    fields += [
      ("parts", .array(parts.enumerated().map { call("part", $0 + 1, $1) })),
      ("list", .array(lists.enumerated().map { call("after", $0 * Self.pageLength, $1) })),
      ("complete", call(nil, 0, complete)), ("abort", call(nil, 0, abort)), ("head", call(nil, 0, head)),
    ]
    return JSON.object(fields).encoded
  }

  /// Writes the ticket to a file for its owner only (0600). An existing file is replaced only with `replacing`.
  public func write(to path: String, replacing: Bool = false) throws(Failure) {
    let file = try TicketFile(FilePath(path), replaces: replacing)
    try file.append(Array((json + "\n").utf8))
    try file.publish()
  }

  /// The values of a document, which may have been written by anyone.
  private struct Fields {
    private let document: JSON

    init(_ document: JSON) {
      self.document = document
    }

    func text(_ name: String, most: Int) throws(Failure) -> String {
      guard let text = document[name]?.text, !text.isEmpty, text.utf8.count <= most, !text.utf8.contains(0) else {
        throw Ticket.damaged("it has no usable \(name)")
      }
      return text
    }

    func time(_ name: String) throws(Failure) -> Timestamp {
      guard let time = document[name]?.text.flatMap(DateText.iso8601) else {
        throw Ticket.damaged("it has no usable time \(name)")
      }
      return time
    }

    func integer(_ name: String) throws(Failure) -> Int64 {
      guard let number = document[name]?.integer(in: 0...S3Limits.largestObject) else {
        throw Ticket.damaged("it has no usable \(name)")
      }
      return number
    }

    func length() throws(Failure) -> Length {
      document["size"] == nil ? .upTo(try integer("max_size")) : .exactly(try integer("size"))
    }

    func checksum() throws(Failure) -> ChecksumForm {
      guard let form = ChecksumForm(word: try text("checksum", most: 20)) else {
        throw Ticket.damaged("it names a checksum that is not known")
      }
      return form
    }

    /// Parses `http://` or `https://`, a host and a path, and nothing else.
    func address() throws(Failure) -> String {
      let url = try text("url", most: 8192)
      do throws(Failure) {
        let parsed = try EndpointURL.parse(url, blame: .configuration)
        guard !parsed.path.isEmpty, url.begins(with: "http://") || url.begins(with: "https://") else {
          throw Ticket.damaged("its address names no object")
        }
      } catch {
        throw Ticket.damaged("its address is not that of a store")
      }
      return url
    }
  }
}

extension Ticket.Call {
  /// Parses a request; `prefix` is the ticket's address and a `?`.
  fileprivate init(_ json: JSON, _ prefix: [UInt8], isOptional: Bool = false) throws(Failure) {
    if let url = json["url"]?.text, url.utf8.count <= Self.longestURL {
      // Done in one pass, because a ticket has up to 10,000 requests.
      let isOurs = url.utf8.withContiguousStorageIfAvailable { bytes in
        bytes.starts(with: prefix) && bytes.allSatisfy { ASCII.isVisible($0) && $0 != UInt8(ascii: "#") }
      }
      guard isOurs == true else {
        throw Ticket.damaged("one of its requests leads to another address than the ticket's own")
      }
      query = String(url[url.utf8.index(url.startIndex, offsetBy: prefix.count)...])
    } else if !isOptional {
      throw Ticket.damaged("a request is missing")
    }
    guard let fields = json["headers"] else { return }
    headers = try Self.headers(fields, most: Self.mostHeaders)
  }

  fileprivate static func headers(_ fields: JSON, most: Int) throws(Failure) -> HeaderList {
    guard case .object(let pairs) = fields else { throw Ticket.damaged("a request's headers are not an object") }
    guard pairs.count <= most else {
      throw Ticket.damaged("a request has more headers than any upload needs")
    }
    var headers = HeaderList()
    for (name, value) in pairs {
      guard name.utf8.count + (value.text?.utf8.count ?? 0) <= Self.longestHeader, let value = value.text,
        mayBeSent(name), value.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
      else {
        throw Ticket.damaged("a request has a header that no upload needs")
      }
      headers.add(name, value)
    }
    return headers
  }

  /// A session's token has several kilobytes, and a key takes up to three bytes for each of its own.
  private static let longestURL = 32 << 10
  private static let mostHeaders = 32
  private static let longestHeader = 8 << 10
  private static let others: Set<String> = ["content-md5", "content-type", "if-match", "if-none-match"]

  private static func mayBeSent(_ name: String) -> Bool {
    let name = name.lowercased()
    return HeaderText.isName(name)
      && (name.begins(with: "x-amz-") || others.contains(name) || HeaderName.content.contains(name))
  }
}
