import Glibc
import MultipartBasics
import MultipartCore

/// The user's pager, for text that is longer than the terminal.
enum Pager {
  /// A script for sh that shows its standard input; nil if it is to be printed. As with git and man, less is used if there
  /// is no PAGER, and an empty one means none.
  static func script(_ environment: [String: String]) -> String? {
    if let pager = environment["PAGER"] {
      // If the shell cannot start it, the text is printed.
      let line = "eval \"$PAGER\"; s=$?; if [ $s = 126 ] || [ $s = 127 ]; then exec cat; fi; exit $s"
      return pager.isEmpty || pager == "cat" ? nil : line
    }
    // less would ask before it shows anything.
    guard !Descriptor.isDumb(environment) else { return nil }
    return "for p in less more cat; do if command -v $p >/dev/null; then exec $p; fi; done"
  }

  /// Replaces the process by the pager (`execv`), so that it receives the terminal's signals, and restores the terminal.
  /// Returns if there is no pager, and the text must be printed.
  static func show(_ text: String, _ environment: [String: String]) {
    guard let script = script(environment), Descriptor.isTerminal(STDOUT_FILENO),
      text.utf8.count(where: { $0 == UInt8(ascii: "\n") }) >= Descriptor.rows(STDOUT_FILENO),
      let file = tmpfile()
    else { return }
    let descriptor = fileno(file)
    guard WholeWrite.write(Array(text.utf8), to: descriptor) == 0, lseek(descriptor, 0, SEEK_SET) == 0,
      dup2(descriptor, STDIN_FILENO) == STDIN_FILENO
    else { return }
    signal(SIGPIPE, SIG_DFL)
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    // `less` interprets color codes, leaves the text on the screen, and ends by itself if all of it is there.
    setenv("LESS", "FRX", 0)
    let words: [String] = ["sh", "-c", script]
    var vector: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    vector.append(nil)
    execv("/bin/sh", vector)
    for word in vector { free(word) }
  }
}
