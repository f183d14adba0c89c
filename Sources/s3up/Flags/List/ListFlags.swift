import MultipartCore

extension FlagList {
  static let list: [Flag] = [
    Flag(
      .recursive, short: "r", .toggle, .list, .ls, "List every key that begins with PREFIX, not folders.",
      negatable: true, common: .ls),
    Flag(
      .long, short: "l", .toggle, .list, .ls, "Show size, time, storage class and ETag too.",
      more: """
        The time is Last-Modified by the store's clock, in UTC. A folder, and what the store does not say, has a dash. With \
        --json all of it is always there.
        """, negatable: true, common: .ls),
    Flag(
      .humanReadable, .toggle, .list, .ls, "With -l: sizes such as 1.5GiB, not in bytes.", negatable: true, common: .ls),
    Flag(
      .versions, .toggle, .list, .ls, "List all versions of each object, and where it was deleted.",
      more: """
        Before each key are the version's id and its state: latest, older, deleted, or deleted-older for the mark of a \
        deletion after which the object was written again.
        """, negatable: true, common: .ls),
    Flag(
      .null, short: "0", .toggle, .list, .ls, "End each line with a NUL byte, and escape nothing in keys.",
      more: """
        Keys may contain line breaks and what a terminal would take for commands. Without -0 each of these becomes a space or \
        U+FFFD; in JSON they are escaped.
        """, negatable: true),
  ]
}
