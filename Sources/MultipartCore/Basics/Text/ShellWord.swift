/// Words of a command that a person may copy into a shell: a key can hold spaces, and an upload id is the store's to
/// choose.
package enum ShellWord {
  package static func quoted(_ text: String) -> String {
    let isPlain: (UInt8) -> Bool = { ASCII.isAlphanumeric($0) || "-._/:=@%+,".utf8.contains($0) }
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    // Scalar by scalar: to `Character` a quote with an accent on it is no quote, to a shell it is one.
    return "'" + text.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
