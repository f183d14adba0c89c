import MultipartBasics
import MultipartCore

/// A ticket as a script for `sh`, `dd` and `curl`.
enum TicketScript {
  static func render(_ ticket: Ticket) throws(Failure) -> [UInt8] {
    let block = try block(ticket.partSize)
    let size: Int64?
    let most: Int64
    switch ticket.length {
    case .exactly(let bytes): (size, most) = (bytes, bytes)
    case .upTo(let bytes): (size, most) = (nil, bytes)
    }
    // The id names the upload, not the script: a script that is issued again for the upload resumes from the same
    // notes.
    let id = try ticket.fingerprint()
    return TicketTemplate(PackageResources.upload_sh).filled([
      "ID": id,
      "URL": ShellWord.quoted(Escaped.curlConfig(ticket.url)), "EXPIRES": ShellWord.quoted(ticket.expires.iso8601),
      "SIZE": size.map { String($0) } ?? "", "MOST": String(most), "PART_SIZE": String(ticket.partSize),
      "BLOCK": String(block), "ETAG_IS_MD5": ticket.etagMayBeMD5 ? "yes" : "no",
      "ETAG": ShellWord.quoted(ticket.signedETag ?? ""), "SUM": ShellWord.quoted(ticket.signedComposite ?? ""),
      "COMPLETE": ShellWord.quoted(words(ticket.complete)), "HEAD": ShellWord.quoted(words(ticket.head)),
      "LISTS": lines(ticket.lists.enumerated().map { "\($0 * Ticket.pageLength) \(words($1))" }),
      "MEANINGS": ShellWord.quoted(TicketErrors.shell),
      "PARTS": lines(ticket.parts.indices.map { part($0 + 1, ticket) }),
      "TICKET": ticket.json,
    ])
  }

  /// The block size for `dd`, which copies whole blocks, so a part must be a multiple of a block. curl keeps the whole
  /// part in memory, so a part may have at most 1 GiB.
  static func block(_ partSize: Int64) throws(Failure) -> Int64 {
    let fitting: [Int64] = [1 << 20, 64 << 10, 4 << 10]
    guard partSize <= 1 << 30, let block = fitting.first(where: { partSize.isMultiple(of: $0) }) else {
      throw Failure(
        .usage, "a script cannot send parts of \(partSize) bytes",
        remedy: "Leave --part-size out, or give whole MiB, 1024 at most.")
    }
    return block
  }

  private static func part(_ number: Int, _ ticket: Ticket) -> String {
    let signed = ticket.sum(ofPart: number)
    let md5 = signed.flatMap { $0.algorithm == .md5 && ticket.etagMayBeMD5 ? $0.hex : nil } ?? "-"
    var element = "-"
    if let signed, let name = signed.algorithm.awsName {
      element = "<Checksum\(name)>\(signed.base64)</Checksum\(name)>"
    }
    return "\(number) \(md5) \(element) \(words(ticket.parts[number - 1]))"
  }

  /// The query and the headers, separated by tabs and escaped for a config file of curl.
  private static func words(_ call: Ticket.Call) -> String {
    let headers = call.headerFields.map { "\($0.name): \(Escaped.curlConfig($0.value))" }
    return "\(Escaped.curlConfig(call.query ?? "-")) \(headers.joined(separator: "\t"))"
  }

  private static func lines(_ lines: [String]) -> String { lines.joined(separator: "\n") }
}

/// A text in which `__NAME__` is replaced by a value.
struct TicketTemplate {
  private let text: [UInt8]

  init(_ text: [UInt8]) {
    self.text = text
  }

  func filled(_ values: [String: String]) -> [UInt8] {
    var out: [UInt8] = []
    var rest = text[...]
    let mark = Array("__".utf8)
    while let start = rest.firstRange(of: mark) {
      out += rest[..<start.lowerBound]
      rest = rest[start.upperBound...]
      guard let end = rest.firstRange(of: mark),
        let value = values[String(decoding: rest[..<end.lowerBound], as: UTF8.self)]
      else {
        out += mark
        continue
      }
      out += value.utf8
      rest = rest[end.upperBound...]
    }
    return out + rest
  }
}
