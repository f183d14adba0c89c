import MultipartBasics

/// Detects a web page in place of an answer of the store: from a network that requires a login, a proxy, or a web
/// server. Judged only by its status, the answer to a PUT would count as a success.
enum WebPage {
  /// The failure; nil for an answer that may come from a store, or from a gateway that reports an error (5xx).
  static func failure(_ answer: Response, to operation: OperationName) -> Failure? {
    isPage(answer, operation) ? failure(answer.status, to: operation) : nil
  }

  /// The failure of an answer whose body would become an object, and of which only the headers are known.
  static func failure(_ status: Int, _ headers: HeaderList) -> Failure? {
    status == 200 && isNoStores(headers) && isHTML(headers) ? failure(status, to: GetObject.name) : nil
  }

  private static func failure(_ status: Int, to operation: OperationName) -> Failure {
    Failure(
      .network,
      "got a web page instead of an answer to \(operation): a login page of the network, or a wrong endpoint",
      status: status, remedy: "log in to the network with a browser, or check \(.endpoint)")
  }

  private static func isNoStores(_ headers: HeaderList) -> Bool {
    headers["ETag"] == nil && S3ErrorBody.requestID(headers) == nil
  }

  private static func isPage(_ answer: Response, _ operation: OperationName) -> Bool {
    guard (200..<400).contains(answer.status) else { return false }
    // Its body may be any object; no other operation has an answer that begins like this, whatever its headers.
    if operation != GetObject.name, begins(answer.body) { return true }
    guard isNoStores(answer.headers) else { return false }
    // No S3 operation has this status.
    if answer.status == 302 || answer.status == 303 { return true }
    return answer.body.isEmpty ? operation == HeadObject.name && isHTML(answer.headers) : begins(answer.body)
  }

  private static func isHTML(_ headers: HeaderList) -> Bool {
    guard headers["Last-Modified"] == nil, let type = headers["Content-Type"] else { return false }
    return ASCII.trimmed(type).lowercased().begins(with: "text/html")
  }

  /// Whether the body begins like a page. Some stores send XML as text/html, so the body decides.
  private static func begins(_ body: [UInt8]) -> Bool {
    let start = String(decoding: body.drop { $0 <= 0x20 || $0 > 0x7F }.prefix(14), as: UTF8.self).lowercased()
    return start.begins(with: "<!doctype html") || start.begins(with: "<html") || start.begins(with: "<head")
  }
}
