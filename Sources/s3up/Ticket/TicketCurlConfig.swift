import MultipartCore

/// A ticket as a config for `curl --parallel`. curl cannot send a slice of a file, so it sends files that `split` has made.
enum TicketCurlConfig {
  static func render(_ ticket: Ticket) throws(Failure) -> [UInt8] {
    guard case .exactly(let size) = ticket.length else {
      throw Failure(
        .usage, "curl cannot send a file of unknown length in parts", remedy: "Name the file, or give --size.")
    }
    let requests = ticket.parts.enumerated().compactMap { index, call in
      call.query.map { request(index, url: ticket.url + "?" + $0, call.headers) }
    }
    return Array((head(ticket, size) + requests.joined(separator: "next\n\n")).utf8)
  }

  private static func head(_ ticket: Ticket, _ size: Int64) -> String {
    let split =
      size == 0
      ? ": >\(name(0))    # the file is empty, and so is its only part"
      : "split -b \(ticket.partSize) -a \(letters) FILE part."
    return """
      # Sends the parts of one upload, several at a time. It is a secret until \(ticket.expires.iso8601).
      #
      #   \(split)
      #   curl --parallel --parallel-max 8 -K THIS_FILE
      #   s3up ticket finish TICKET
      #
      # curl cannot send a part of a file, so split copies the file into parts, in the current folder. finish makes the
      # object, if all parts are there; TICKET is the same ticket as JSON. A part that is sent again replaces the earlier
      # one, so after a failure the same command is right; s3up ticket renew TICKET --format curl -o NEW writes one of only
      # the parts that are missing. Everything is tried six times in half a minute, also what the store refuses (403: the
      # ticket has expired; 400: the file is another one).


      """
  }

  private static func request(_ index: Int, url: String, _ headers: HeaderList) -> String {
    var lines = ["# part \(index + 1)", "url = \"\(CurlConfig.escaped(url))\"", "upload-file = \"\(name(index))\""]
    lines += headers.fields.map { "header = \"\($0.name): \(CurlConfig.escaped($0.value))\"" }
    lines += [
      "header = \"Expect:\"", "globoff", "proto = \"=http,https\"", "fail", "silent", "show-error",
      "output = \"/dev/null\"", "connect-timeout = 20", "speed-limit = 1", "speed-time = 60", "retry = 5",
      "retry-all-errors",
    ]
    return lines.map { $0 + "\n" }.joined()
  }

  private static let letters = 3

  /// As POSIX's `split` names its pieces: `part.aaa`, `part.aab` …, 17,576 of them.
  private static func name(_ index: Int) -> String {
    var (rest, suffix) = (index, "")
    for _ in 0..<letters {
      suffix = String(UnicodeScalar(UInt8(ascii: "a") + UInt8(rest % 26))) + suffix
      rest /= 26
    }
    return "part." + suffix
  }
}

/// What curl reads from `-K`.
enum CurlConfig {
  /// Within quotes.
  static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}
