import MultipartCore

extension FlagList {
  /// Which files a run uploads, and what it says about them.
  static let selection: [Flag] = [
    Flag(
      .recursive, short: "r", .toggle, .selection, [.many, .issueMany, .verifyMany],
      "Take what is in the folders that are given.",
      more: """
        What is in DIR goes below the prefix: DIR/a/b becomes PREFIX/a/b, with or without a slash at the end of DIR or of \
        the prefix. Links are skipped and said, and so are sockets, devices, pipes and empty folders.
        """, common: [.many, .verifyMany]),
    Flag(
      .include, .list("GLOB"), .selection, [.many, .issueMany, .verifyMany, .getMany],
      "Take files that match; of several rules the last that matches counts.",
      more: """
        The globs are those of gitignore: *, ?, [a-z], **, a slash at the beginning or inside ties the glob to the folder \
        that is named, a slash at the end is for folders only. If the first rule is an --include, everything else is \
        excluded: --include '*.js' alone takes all .js files. What is in an excluded folder is not looked at, so what \
        AWS CLI calls --exclude '*' --include '*.js' leaves out every folder. Rules that leave nothing end the \
        run with 66.
        """),
    Flag(
      .exclude, .list("GLOB"), .selection, [.many, .issueMany, .verifyMany, .getMany],
      "Leave out what matches: see s3up help filters.", common: [.many, .verifyMany]),
    Flag(
      .followSymlinks, .toggle, .selection, [.files, .issue, .verifyMany], "Take what links lead to.",
      more: "A link to a folder that it lies in is skipped.", negatable: true),
    Flag(
      .filesFrom, .value("FILE|-"), .selection, [.many, .issueMany, .verifyMany],
      "Take the files that FILE names, one on each line.",
      more: """
        A path is relative to the current folder, and the key is the prefix and the path. Of A/./x/y only x/y becomes \
        part of the key. With -0 names end with a NUL byte, as find -print0 writes them.
        """, completes: .files),
    Flag(
      .null, short: "0", .toggle, .selection, [.files, .byTickets, .issue, .verifyMany, .getMany],
      "Names in --files-from and --failed-to end with a NUL byte.", negatable: true),
    Flag(
      .batch, .value("FILE|-"), .selection, [.many, .issueMany],
      "Upload what FILE lists: one JSON object on each line.",
      more: """
        {"localUri": "a/b.png", "bucket": "my-bucket", "key": "x/b.png"}, and if wanted "region", "mimeType", \
        "metadata", an object, and what --attributes names, such as "cache-control". localUri is a path or a file:// \
        URL. There is no destination on the command line then.
        """, completes: .files),
    Flag(
      .nonUTF8, .value("escape|refuse"), .selection, [.files, .issue, .verifyMany],
      "What to do with file names that are not UTF-8, as every key must be.",
      more: "With escape each byte that is not is written as %XX, and each % of such a name as %25.",
      standard: "escape", choices: ["escape", "refuse"]),
    Flag(
      .skipSame, .toggle, .selection, .files, "Leave an object alone that is the file already.",
      more: """
        Compared by size, then by the checksum that the store has, the ETag if it is made of MD5s, or the time of \
        modification that the metadata s3up-mtime (or rclone's or s3cmd's) names; with --verify, or a manifest of sums, \
        a time is not enough. The result says unchanged, and why. Of a folder the destination is listed once. Nothing at the store is ever deleted: aws s3 sync --delete or rclone \
        sync does that, which one wrong path empties.
        """, negatable: true, common: .files),
    Flag(
      .skipExisting, .toggle, .selection, .files, "Leave an object alone that is there, whatever it holds.",
      more: """
        The result says skipped, and the exit code is 0. Of a folder the destination is listed once. The store is told to \
        create the object only, so that one which appears while the file is sent is not replaced either. A manifest does \
        not list what was skipped, because nothing is known of it. --skip-same compares instead, and --if-none-match \
        fails.
        """, negatable: true),
    Flag(
      .shard, .value("I/N|auto|auto/N"), .selection, [.many, .byTicket, .verifyMany, .getMany],
      "Take the I-th of N shares of the files, or of the parts of a ticket.",
      more: """
        N machines with the same files and the same options take each file once; I counts from 1. auto takes both numbers from a Slurm \
        array, AWS Batch or MPI; auto/N takes the index from a Kubernetes indexed Job, PBS, SGE or GNU parallel.
        """, standard: "1/1", choices: ["auto"], open: true),
    Flag(
      .manifest, .value("FILE|s3://BUCKET/KEY"), .selection, .many,
      "Write what is there now, after everything has arrived.",
      more: """
        Lines for sha256sum -c, or JSON lines if the name ends in .json or .jsonl. It is written last, and only if \
        nothing has failed: its presence says that all is there. Each share writes its own, named FILE.I-of-N. It may lie \
        in a folder that is uploaded, and is left out then.
        """, completes: .files),
    Flag(
      .failedTo, .value("FILE"), .selection, [.many, .byTickets, .verifyMany, .getMany],
      "Write the names of files that have failed, for --files-from.",
      more: """
        It is written at the end, and replaces what was there; it cannot be the list that is read. A name with a line \
        break is only written with -0.
        """, completes: .files),
    Flag(
      .failFast, .toggle, .selection, [.many, .byTickets, .verifyMany, .getMany], "Stop when one file fails.",
      negatable: true),
    Flag(
      .allowEmpty, .toggle, .selection, [.many, .verifyMany, .getMany],
      "Nothing to do is all right, because of the rules or an empty list.",
      negatable: true),
    Flag(
      .dryRun, .toggle, .selection, .many, "Say what would be uploaded, and send nothing.",
      common: .many),
  ]
}
