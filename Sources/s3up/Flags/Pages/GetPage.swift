extension CommandPage {
  static let get = CommandPage(
    name: .get, summary: "download objects, and prove that they are intact",
    synopses: [
      "s3up get [OPTIONS] s3://BUCKET/KEY|URL [FILE|DIR/|-]", "s3up get [OPTIONS] -r s3://BUCKET/PREFIX/ [DIR]",
      "s3up get [OPTIONS] --to-command s3://BUCKET/KEY -- CMD [ARG...]",
      "s3up get [OPTIONS] s3://BUCKET/KEY s3://BUCKET/KEY... DIR",
      "s3up get [OPTIONS] --files-from LIST s3://BUCKET/PREFIX/ [DIR]",
      "s3up get [OPTIONS] --manifest MANIFEST s3://BUCKET/PREFIX/ [DIR]",
    ],
    examples: [
      Example(what: "Into this folder, under the key's last name", line: "s3up get s3://my-bucket/backups/backup.tar"),
      Example(what: "Into a file that may exist", line: "s3up get s3://my-bucket/disk.img disk.img --overwrite"),
      Example(what: "Into a pipe", line: "s3up get s3://my-bucket/src.tar.gz - | tar xz"),
      Example(
        what: "Everything below a prefix: data/a/b becomes restored/a/b",
        line: "s3up get -r s3://backup/data/ restored/"),
      Example(
        what: "The objects of a manifest, each checked against it",
        line: "s3up get --manifest s3://backup/data.jsonl s3://backup/data/ restored/"),
      Example(
        what: "Into a command that never mistakes half an object for the whole",
        line: "s3up get --to-command s3://my-bucket/src.tar.gz -- tar xz"),
      Example(
        what: "From a presigned URL, without credentials",
        line: "s3up get \"$url\" restored.img"),
    ],
    about: [
      """
      Downloads the object in ranges, several at a time, into a file next to the target, and proves it by the \
      strongest evidence that the store has: a checksum of the whole object, the checksums of its parts, its ETag, an \
      MD5 that another client has recorded, or the size alone; the result line names it. Only then does the file get \
      its name. If the object is replaced during the download, or is not what the store says, the exit code is 65 and \
      there is no file of that name.
      """,
      """
      A presigned URL takes the place of s3://BUCKET/KEY, and of credentials: presign prints one. With presign \
      --checksum-mode the store's checksum proves the object, if the store sends it with a GET. Anyone who sees the \
      URL can use it until it expires, and other users of this machine can see arguments.
      """,
      """
      After any interruption the same command resumes: bytes on disk count if they still have the checksum that they \
      arrived with.
      """,
      """
      Standard output, a named pipe or a device gets the bytes in order. The last range is held back until all of \
      them are proven; if they are not, the reader never gets it, and the exit code is 65. The reader of a pipe \
      cannot tell the pipe's end from the object's: with --to-command the command is killed before it sees the end of \
      an incomplete object, and the run fails if the command does.
      """,
      """
      With -r every object below a prefix becomes a file in a folder, which is created if it does not exist. No key \
      can lead out of the folder, and no link in it is followed. A key fails with 73 if a component of it is empty, \
      ".", ".." or longer than 255 bytes, if it ends with a slash, or if a folder, a link or another object's file is \
      in its place; the others are downloaded. A modification time recorded as s3up-mtime, or by rclone or s3cmd, \
      becomes the file's.
      """,
      """
      Several objects share one window of connections, and each has its own result line. An existing file is a \
      failure (73) unless --skip-same, --overwrite or --if-newer says what to do with it, or an interrupted run of \
      the same command has downloaded it, and neither file nor object has changed since. The exit code is that of the \
      failures, or 1 if they differ; if there is nothing to download, it is 66.
      """,
    ],
    arguments: [
      object,
      Item(
        term: "FILE|DIR/|-",
        doc:
          "The target; in a folder it gets the key's last name, and - is standard output. The default is the current folder."
      ),
      Item(
        term: "s3://BUCKET/PREFIX/",
        doc: "With -r, --files-from or --manifest; the slash may be omitted, and a bucket alone means all of it."),
    ])
}
