import MultipartBasics
import MultipartCore

extension FlagList {
  static let target: [Flag] = [
    Flag(
      .overwrite, .toggle, .target, .get, "Replace an existing file.",
      more: """
        The file keeps its mode; a symbolic link stays, and its target is replaced. Of several objects none is written \
        through a link.
        """, common: .get),
    Flag(
      .skipSame, .toggle, .target, .get, "Leave a file alone if it is already identical.",
      more: "They are compared by size, then by the store's checksum or ETag, or an MD5 in the object's metadata.",
      negatable: true, common: .get),
    Flag(
      .ifNewer, .toggle, .target, .get, "Replace a file only if the object is newer.",
      more: """
        The file's modification time is compared with the one that is recorded with the object (put --mtime, rclone, \
        s3cmd), or else with the store's Last-Modified; fractions of a second count if both have them. If the object \
        is not newer, the file is left alone, even if its contents differ. Not for a --range or a --part.
        """, negatable: true),
    Flag(
      .toCommand, .toggle, .target, .getOne,
      "Pipe the object into a command: get --to-command s3://BUCKET/KEY -- CMD ARG...",
      more: """
        The command reads the object from its standard input, in order. The last range is held back until the object \
        is proven, and the run succeeds only if the command then exits with 0; otherwise the exit code is 65. If the \
        download fails or is stopped, the command and the processes it has started get SIGTERM, and after two seconds \
        SIGKILL, before they can see the end of their input: none of them mistakes half an object for a whole one, \
        unless s3up itself is killed with SIGKILL, or a process has detached itself, as a daemon does. \
        For this they have their own process group, so the command cannot read the terminal. With --json the \
        command's output and s3up's are on the same standard output.
        """),
    Flag(
      .range, .value("A-B"), .target, .getOne, "Only the bytes from A to B of the object; the first is 0.",
      more: "A- means to the end. No store has a checksum of a range, so its bytes are not proven."),
    Flag(
      .part, .value("N"), .target, .getObject, "Only part N of the object, as it was uploaded.",
      more: "The store knows where it is, and has a checksum of it if the parts were uploaded with one."),
  ]

  /// Which objects a run downloads.
  static let selectionOfGet: [Flag] = [
    Flag(
      .recursive, short: "r", .toggle, .selection, .getMany, "Download every object below the given prefixes.",
      more: """
        PREFIX/a/b becomes DIR/a/b, with or without a slash at the end of PREFIX. A bucket alone means all of it. \
        Empty objects that consoles create for folders are skipped with a message.
        """, common: .getMany),
    Flag(
      .filesFrom, .value("FILE|-"), .selection, .getMany, "Download the objects that FILE names, one per line.",
      more: """
        A line is a key without the prefix on the command line, and becomes the path below DIR. With -0 lines end \
        with a NUL byte.
        """, names: .input),
    Flag(
      .manifest, .value("FILE|s3://BUCKET/KEY"), .selection, .getMany,
      "Download the objects that a manifest lists, and prove that they match it.",
      more: """
        The manifest is one that put --manifest has written: lines for sha256sum, or JSON lines if the name ends in \
        .json or .jsonl. Each object must have the size, and the SHA-256, the checksum or the ETag that is listed; \
        otherwise it fails with 65. If a version is listed, that version is downloaded.
        """, names: .input),
    Flag(
      .dryRun, .toggle, .selection, .getMany, "Print what would be written, without writing anything.", common: .getMany
    ),
  ]
}
