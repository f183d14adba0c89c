/// Quotes the words of a command that a person may copy into a shell: a key can contain spaces, and the store chooses
/// the upload id.
package enum ShellWord {
  package static func quoted(_ text: String) -> String {
    let isPlain: (UInt8) -> Bool = { ASCII.isAlphanumeric($0) || "-._/:=@%+,".utf8.contains($0) }
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    return "'" + Escaped.singleQuoted(text) + "'"
  }
}
