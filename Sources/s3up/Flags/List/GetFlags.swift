import MultipartCore

extension FlagList {
  static let target: [Flag] = [
    Flag(
      .overwrite, .toggle, .target, .get, "Replace a file that is there.",
      more: "It keeps its mode; a link stays, and what it leads to is replaced.", common: .get),
    Flag(
      .skipSame, .toggle, .target, .get, "Leave a file alone that is the object already.",
      more: "Compared by size, and then by the checksum that the store has, its ETag, or an MD5 noted with the object.",
      negatable: true, common: .get),
    Flag(
      .ifNewer, .toggle, .target, .get, "Replace a file only if the object is newer than it.",
      more: "By the file's time of modification and the store's Last-Modified.", negatable: true),
    Flag(
      .toCommand, .toggle, .target, .getOne,
      "Give the object to a command: get --to-command s3://BUCKET/KEY -- CMD ARG...",
      more: """
        The command reads the object from its standard input, in order. The last range is held back until the object is \
        proven, and the run succeeds only if the command then ends with exit code 0; otherwise it is 65. If the \
        download fails or is stopped, the command and all that it has started are ended by SIGTERM, and after two \
        seconds by SIGKILL, before they can see the end of their input: none takes half an object for a whole one. For \
        that they have a process group of their own, so the command cannot read the terminal. With --json the command's \
        output and s3up's are on the same standard output.
        """),
    Flag(
      .range, .value("A-B"), .target, .getOne, "Only the bytes from A to B of the object; the first is 0.",
      more: "A- means to the end. No store has a checksum of a range, so that its bytes are not proven."),
    Flag(
      .part, .value("N"), .target, .getObject, "Only part N of the object, as it was uploaded.",
      more: "The store tells where it is, and has a checksum of it if the parts were uploaded with one."),
  ]

  /// Which objects a run brings.
  static let selectionOfGet: [Flag] = [
    Flag(
      .recursive, short: "r", .toggle, .selection, .getMany, "Take every object below the prefixes that are given.",
      more: """
        PREFIX/a/b becomes DIR/a/b, with or without a slash at the end of PREFIX. A bucket alone means all of it. The empty \
        objects by which consoles mark a folder are skipped and said.
        """, common: .getMany),
    Flag(
      .filesFrom, .value("FILE|-"), .selection, .getMany, "Take the objects that FILE names, one on each line.",
      more: """
        A line is a key without the prefix that the command names, and becomes the path below DIR. With -0 lines end with a \
        NUL byte.
        """, completes: .files),
    Flag(
      .manifest, .value("FILE|s3://BUCKET/KEY"), .selection, .getMany,
      "Take the objects that a manifest lists, and prove that they are what it lists.",
      more: """
        It is what put --manifest has written: lines for sha256sum, or JSON lines if the name ends in .json or .jsonl. Each \
        object must have the size, the SHA-256, the checksum or the ETag that is listed, and the version if one is; if not, it \
        has failed with 65.
        """, completes: .files),
    Flag(
      .dryRun, .toggle, .selection, .getMany, "Say what would be written, and write nothing.", common: .getMany),
  ]
}
