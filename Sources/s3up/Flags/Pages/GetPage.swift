extension CommandPage {
  static let get = CommandPage(
    name: .get, summary: "bring objects back, and prove that they are the same",
    synopses: [
      "s3up get [OPTIONS] s3://BUCKET/KEY|URL [FILE|DIR/|-]", "s3up get [OPTIONS] -r s3://BUCKET/PREFIX/ [DIR]",
      "s3up get [OPTIONS] --to-command s3://BUCKET/KEY -- CMD [ARG...]",
      "s3up get [OPTIONS] s3://BUCKET/KEY... [DIR]", "s3up get [OPTIONS] --files-from LIST s3://BUCKET/PREFIX/ [DIR]",
      "s3up get [OPTIONS] --manifest MANIFEST s3://BUCKET/PREFIX/ [DIR]",
    ],
    examples: [
      Example(what: "Into this folder, under the key's last name", line: "s3up get s3://my-bucket/backups/backup.tar"),
      Example(what: "Into a file that may be there", line: "s3up get s3://my-bucket/disk.img disk.img --overwrite"),
      Example(what: "Into a pipe", line: "s3up get s3://my-bucket/src.tar.gz - | tar xz"),
      Example(
        what: "All that is below a prefix: data/a/b becomes restored/a/b",
        line: "s3up get -r s3://backup/data/ restored/"),
      Example(
        what: "What a manifest lists, each object proven to be what was listed",
        line: "s3up get --manifest s3://backup/data.sha256 s3://backup/data/ restored/"),
      Example(
        what: "To a command that never takes half an object for the whole",
        line: "s3up get --to-command s3://my-bucket/src.tar.gz -- tar xz"),
      Example(
        what: "From a presigned URL, without credentials",
        line: "s3up get \"$url\" restored.img"),
    ],
    about: [
      """
      Loads the object in ranges, several at a time, into a file beside the target, and proves it by the strongest \
      evidence that the store has: a checksum of the whole object, the checksums of its parts, its ETag, an MD5 that \
      another client has noted, or the size alone; the result line names it. Only then has the file its name. If the \
      object is replaced meanwhile, or is not what the store says, the exit code is 65 and nothing is under the name.
      """,
      """
      A presigned URL takes the place of s3://BUCKET/KEY, and of credentials: presign prints one. With --checksum-mode it \
      proves the object as well as credentials would. Whoever sees the URL can use it until it expires, and other users of \
      this machine can see arguments.
      """,
      """
      After any interruption the same command resumes: bytes on disk count if they still have the checksum that they \
      came with.
      """,
      """
      To standard output, a named pipe or a device the bytes go in order. The last range is held back until all of them \
      are proven; if they are not, the reader never gets it, and the exit code is 65. Whoever reads a pipe cannot tell \
      its end from the object's: with --to-command the command is ended before it sees the end of an object that is not \
      whole, and its own failure is the run's.
      """,
      """
      With -r every object below a prefix becomes a file of a folder, which is made if it is not there. No key leaves the \
      folder, and no link in it is followed: a key with an empty part, "." or "..", one that ends in a slash, a part of more \
      than 255 bytes, and one where there is a folder, a link or another object's file has failed with 73, and the others \
      arrive. A time of modification that s3up-mtime, rclone or s3cmd has noted becomes the file's.
      """,
      """
      Several objects share one window of connections, and each has its own result line. A file that is there is a failure \
      (73) unless --skip-same, --overwrite or --if-newer says what becomes of it, or an interrupted run of the same command \
      has brought it, and neither has changed since. The exit code is that of all failures, or 1 if they have several; if \
      there is nothing to bring, 66.
      """,
    ],
    arguments: [
      object,
      Item(
        term: "FILE|DIR/|-",
        doc: "The target; in a folder it has the key's last name, and - is standard output. Without it, this folder."),
      Item(
        term: "s3://BUCKET/PREFIX/",
        doc: "With -r, --files-from or --manifest; its slash may be left out, and a bucket alone means all of it."),
    ])
}
