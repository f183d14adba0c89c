/// Quotes the words of a command that a person may copy into a shell: a key can contain spaces, and the store chooses
/// the upload id.
package enum ShellWord {
  package static func quoted(_ text: String) -> String {
    let isPlain: (UInt8) -> Bool = { ASCII.isAlphanumeric($0) || "-._/:=@%+,".utf8.contains($0) }
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    // By scalar: Swift's `Character` combines a quote with an accent after it, but a shell still sees the quote.
    return "'" + text.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
