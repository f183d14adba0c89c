import MultipartBasics
import MultipartCore

extension FlagList {
  /// Which files a run uploads, and the reports that it writes.
  static let selection: [Flag] = [
    recursive([.many, .byTickets], "Upload the contents of the given folders.", "becomes"),
    recursive(.issueMany, "Issue a ticket for each file in the given folder.", "becomes"),
    recursive(.verifyMany, "Compare each file in the given folders.", "is compared with"),
    Flag(
      .include, .list("GLOB"), .selection, [.many, .issueMany, .verifyMany, .getMany],
      "Include matching files; the last matching rule decides.",
      more: """
        The globs are those of gitignore: *, ?, [a-z], **; a slash at the beginning or in the middle anchors the glob \
        to the given folder or prefix, and a slash at the end makes it match folders only. If the first rule is an \
        --include, everything else is excluded: --include '*.js' alone selects all .js files. Excluded folders are \
        not searched, so --exclude '*' --include '*.js', as for the AWS CLI, leaves out every folder. With --batch the \
        globs are compared with the keys. If the rules leave no file, the exit code is 66.
        """),
    Flag(
      .exclude, .list("GLOB"), .selection, [.many, .issueMany, .verifyMany, .getMany],
      "Exclude matching files: see s3up help filters.", common: [.many, .verifyMany]),
    Flag(
      .followSymlinks, .toggle, .selection, [.files, .issue, .verifyMany], "Follow symbolic links.",
      more: "A link to a folder that contains it is skipped.", negatable: true),
    filesFrom(.many, "Upload the files that FILE names, one per line."),
    filesFrom(.issueMany, "Issue a ticket for each file that FILE names, one per line."),
    filesFrom(.verifyMany, "Compare the files that FILE names, one per line."),
    Flag(
      .null, short: "0", .toggle, .selection, [.files, .byTickets, .issue, .verifyMany, .getMany],
      "Names in --files-from and --failed-to end with a NUL byte.", negatable: true),
    batch(.many, "Upload what FILE lists, one JSON object per line."),
    batch(.issueMany, "Issue a ticket for each file that FILE lists, one JSON object per line."),
    Flag(
      .nonUTF8, .value("escape|refuse"), .selection, [.files, .issue, .verifyMany],
      "What to do with file names that are not UTF-8, as every key must be.",
      more: "With escape each invalid byte becomes %XX, and each % in such a name %25.",
      standard: "escape", choices: ["escape", "refuse"]),
    Flag(
      .nonUTF8, .value("keep|restore"), .selection, .getMany,
      "What to do with keys in which put has escaped bytes that are not UTF-8 as %XX.",
      more: "With restore the files get their original names back. A key that only looks escaped is decoded too.",
      standard: "keep", choices: ["keep", "restore"]),
    Flag(
      .skipSame, .toggle, .selection, .files, "Leave an object alone if it is already identical.",
      more: """
        They are compared by size, then by the store's checksum, the ETag if it is made of MD5s, or the modification \
        time in the metadata s3up-mtime (or rclone's or s3cmd's); with --verify, or a --manifest for sha256sum, a time \
        is not enough. What else is requested of the object, such as metadata or encryption, is not compared. The \
        result is unchanged, with the reason. For a folder the destination is listed once. Nothing \
        at the store is ever deleted, because one wrong path would empty it; aws s3 sync --delete or rclone sync does \
        that.
        """, negatable: true, common: .files),
    Flag(
      .skipExisting, .toggle, .selection, .files, "Leave an existing object alone, whatever it contains.",
      more: """
        The result is skipped, and the exit code is 0. For a folder the destination is listed once. The store is \
        asked to create the object only if there is none, so one that appears during the upload is not replaced \
        either. A manifest does not list skipped objects, because their contents are unknown. --skip-same compares \
        instead, and --if-none-match fails.
        """, negatable: true),
    shard(
      [.many, .byTicket], "Upload the I-th of N shares of the files, or of the parts of a ticket.",
      "N machines with the same files and options upload each file exactly once"),
    shard(
      .getMany, "Download the I-th of N shares of the objects.",
      "N machines with the same prefix and options download each object exactly once"),
    shard(
      .verifyMany, "Compare the I-th of N shares of the files.",
      "N machines with the same files and options compare each file exactly once"),
    Flag(
      .manifest, .value("FILE|s3://BUCKET/KEY"), .selection, .many,
      "Write a list of the objects once all of them have arrived.",
      more: """
        It has lines for sha256sum -c, or if the name ends in .json or .jsonl, JSON lines, which s3up verify can \
        compare also with a store that keeps no SHA-256. It is written last, and only if nothing has failed: its \
        presence means that everything has arrived, but a run that fails leaves an earlier one as it is. Each share \
        writes its own, named FILE.I-of-N. It may be in a folder that is uploaded, and is then left out.
        """, names: .output),
    Flag(
      .manifest, .value("FILE|s3://BUCKET/KEY"), .selection, .verifyMany,
      "Compare the objects that a manifest lists with what it lists; their files are not needed.",
      more: """
        The manifest is one that put --manifest has written. Each object must have the listed size, and the listed \
        SHA-256, checksum or ETag, the first of these that the store reveals too. Few stores have the SHA-256 of a \
        large object: where a manifest for sha256sum cannot be compared, the exit code is 69, and --deep decides.
        """, names: .input),
    Flag(
      .failedTo, .value("FILE"), .selection, [.many, .byTickets, .verifyMany, .getMany],
      "Write the names of files that have failed, for --files-from; with --batch, its lines.",
      more: """
        It is written at the end, and replaces an earlier list; it cannot be the list that is read. If the run ended \
        before every file was tried, there is none, and the same command has to be run again. Names with a line break \
        are only written with -0.
        """, names: .output),
    Flag(
      .failFast, .toggle, .selection, [.many, .byTickets, .verifyMany, .getMany], "Stop when one file fails.",
      negatable: true),
    Flag(
      .allowEmpty, .toggle, .selection, [.many, .verifyMany, .getMany],
      "Succeed even if the rules or an empty list leave nothing to do.",
      negatable: true),
    Flag(
      .dryRun, .toggle, .selection, .many, "Print what would be uploaded, without sending anything.",
      common: .many),
  ]

  private static func recursive(_ modes: ModeSet, _ doc: String, _ becomes: String) -> Flag {
    Flag(
      .recursive, short: "r", .toggle, .selection, modes, doc,
      more: """
        DIR/a/b \(becomes) PREFIX/a/b, with or without a slash at the end of DIR or of the prefix. Links are skipped \
        with a message, and so are sockets, devices, pipes and empty folders.
        """, common: modes.intersection([.many, .verifyMany]))
  }

  private static func filesFrom(_ modes: ModeSet, _ doc: String) -> Flag {
    Flag(
      .filesFrom, .value("FILE|-"), .selection, modes, doc,
      more: """
        A path is relative to the current folder, and the key is the prefix plus the path. Of A/./x/y only x/y \
        becomes part of the key. With -0 names end with a NUL byte, as find -print0 writes them.
        """, names: .input)
  }

  private static func batch(_ modes: ModeSet, _ doc: String) -> Flag {
    Flag(
      .batch, .value("FILE|-"), .selection, modes, doc,
      more: """
        {"localUri": "a/b.png", "bucket": "my-bucket", "key": "x/b.png"}, and if wanted "region", "mimeType", \
        "metadata" (an object), and the names of --attributes, such as "cache-control". localUri is a path or a \
        file:// URL. The command line then has no destination.
        """, names: .input)
  }

  private static func shard(_ modes: ModeSet, _ doc: String, _ division: String) -> Flag {
    Flag(
      .shard, .value("I/N|auto|auto/N"), .selection, modes, doc,
      more: """
        \(division); I counts from 1. auto takes both numbers from a Slurm array, AWS Batch or MPI; auto/N takes the \
        index from a Kubernetes indexed Job, PBS, SGE or GNU parallel.
        """, standard: "1/1", choices: ["auto"], open: true)
  }
}
