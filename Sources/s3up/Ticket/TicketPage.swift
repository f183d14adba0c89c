import MultipartBasics
import MultipartCore

/// A ticket as a page for a browser. Its policy allows only the page's own script and style, by a nonce, and requests
/// to the ticket's store; nothing smuggled in by a ticket's text has either.
enum TicketPage {
  static func render(_ ticket: Ticket) throws(Failure) -> [UInt8] {
    return TicketTemplate(PackageResources.page_html).filled([
      "CODES": TicketErrors.script, "TICKET": Escaped.jsonInHTML(ticket.json),
      "ORIGIN": Escaped.html(try source(ticket.origin)), "NONCE": nonce(),
    ])
  }

  /// The nonce by which a page's policy recognises the page's own style and script.
  static func nonce() -> String {
    var dice = SystemRandomNumberGenerator()
    return Base64.encode((0..<18).map { _ in UInt8.random(in: 0...255, using: &dice) })
  }

  /// The only server, as a source in a content security policy. `;`, a comma or white space would begin another
  /// directive or source, and the policy's syntax has no IPv6 addresses.
  static func source(_ origin: String) throws(Failure) -> String {
    for scheme in ["http://", "https://"] where origin.begins(with: scheme) {
      let authority = origin.utf8.dropFirst(scheme.utf8.count)
      if !authority.isEmpty, authority.allSatisfy({ ASCII.isAlphanumeric($0) || "-._:".utf8.contains($0) }) {
        return origin
      }
    }
    throw Failure(
      .usage, "a page cannot be limited to the server \(SafeText.oneLine(origin))",
      remedy: "Give --endpoint-url with a host name or an IPv4 address.")
  }
}
