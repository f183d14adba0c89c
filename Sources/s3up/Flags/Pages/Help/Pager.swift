import Glibc
import MultipartCore

/// The user's pager, for text that is longer than the terminal.
enum Pager {
  /// Replaces the process by the pager (`execv`), so that it receives the terminal's signals. Returns if there is no
  /// pager, and the text must be printed.
  static func show(_ text: String, _ environment: [String: String]) {
    guard let pager = environment["PAGER"], !pager.isEmpty, Descriptor.isTerminal(STDOUT_FILENO),
      text.utf8.count(where: { $0 == UInt8(ascii: "\n") }) >= Descriptor.rows(STDOUT_FILENO),
      let file = tmpfile()
    else { return }
    let descriptor = fileno(file)
    guard Descriptor.writeAll(Array(text.utf8), to: descriptor) == 0, lseek(descriptor, 0, SEEK_SET) == 0,
      dup2(descriptor, STDIN_FILENO) == STDIN_FILENO
    else { return }
    signal(SIGPIPE, SIG_DFL)
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    // `less` interprets color codes, and leaves the text on the screen.
    setenv("LESS", "RX", 0)
    // If the shell cannot start the pager, the text is printed.
    let line = "eval \"$PAGER\"; s=$?; if [ $s = 126 ] || [ $s = 127 ]; then exec cat; fi; exit $s"
    let words: [String] = ["sh", "-c", line]
    var vector: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    vector.append(nil)
    execv("/bin/sh", vector)
    for word in vector { free(word) }
  }
}
