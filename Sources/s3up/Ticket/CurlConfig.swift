/// What curl reads from `-K`.
enum CurlConfig {
  /// Within quotes.
  static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}
