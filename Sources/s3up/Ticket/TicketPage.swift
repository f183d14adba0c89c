import MultipartCore

/// A ticket as a page for a browser.
enum TicketPage {
  static func render(_ ticket: Ticket) -> [UInt8] {
    // In a script element `<` could end it.
    TicketTemplate(PackageResources.page_html).filled([
      "TICKET": ticket.json.replacing("<", with: "\\u003c"), "ORIGIN": escaped(source(ticket.origin)),
    ])
  }

  /// As a content security policy names the only server. It knows no IPv6 addresses: then the scheme must do, and the page's
  /// own checks.
  private static func source(_ origin: String) -> String {
    guard origin.contains("["), let colon = origin.firstIndex(of: ":") else { return origin }
    return String(origin[...colon])
  }

  /// In an attribute.
  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
  }
}
