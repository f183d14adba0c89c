import MultipartBasics
import MultipartCore

extension FlagList {
  static let list: [Flag] = [
    Flag(
      .recursive, short: "r", .toggle, .list, .ls, "List every key that begins with PREFIX, instead of folders.",
      negatable: true, common: .ls),
    Flag(
      .long, short: "l", .toggle, .list, .ls, "Also show size, time, storage class and ETag.",
      more: """
        The time is Last-Modified by the store's clock, in UTC. For a folder, and for what the store does not say, a \
        dash is shown. With --json everything is always included.
        """, negatable: true, common: .ls),
    Flag(
      .humanReadable, .toggle, .list, .ls, "With -l: sizes such as 1.5GiB, not in bytes.", negatable: true, common: .ls),
    Flag(
      .versions, .toggle, .list, .ls, "List all versions of each object, and its delete markers.",
      more: """
        Before each key are the version's id and its state: latest, older, deleted, or deleted-older for a delete \
        marker after which the object was written again.
        """, negatable: true, common: .ls),
    Flag(
      .null, short: "0", .toggle, .list, .ls, "End each line with a NUL byte, and print keys without escaping.",
      more: """
        Keys may contain line breaks and terminal control characters. Without -0 each of these becomes a space or \
        U+FFFD; in JSON they are escaped.
        """, negatable: true),
  ]
}
