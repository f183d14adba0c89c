extension CommandPage {
  static let verify = CommandPage(
    name: .verify, summary: "prove that an object is identical to a file, without a download",
    synopses: [
      "s3up verify [OPTIONS] FILE s3://BUCKET/KEY", "s3up verify -r [OPTIONS] DIR... s3://BUCKET/PREFIX/",
      "s3up verify --files-from LIST [OPTIONS] s3://BUCKET/PREFIX/",
      "s3up verify --manifest FILE [OPTIONS] s3://BUCKET/PREFIX/",
    ],
    examples: [
      Example(
        what: "Check that an object is complete and identical", line: "s3up verify disk.img s3://my-bucket/disk.img"),
      Example(
        what: "Delete the file only then", line: "s3up verify -q backup.tar s3://my-bucket/backups/ && rm backup.tar"),
      Example(what: "A whole folder", line: "s3up verify -r /srv/data s3://backup/data"),
      Example(
        what: "What put --manifest has listed, long after the files are gone",
        line: "s3up verify --manifest data.jsonl s3://backup/data/"),
    ],
    about: [
      """
      Reads the file, and compares it with what the store knows about the object: the size, then the checksum of the \
      whole object, the checksums of its parts, its ETag, or an MD5 that another client has recorded. The strongest \
      of these decides, and the result names it. Timestamps are ignored.
      """,
      """
      The exit code is 0 if the object is identical to the file, 65 if it is not, or if the file changes while it is \
      read, and 69 if there is no object, or if nothing that the store reveals decides it; the message says what is \
      missing.
      """,
      """
      With -r each file of a folder is compared with the object that put -r makes of it, several at a time. Objects \
      without a file are ignored. If one fails, the others continue; the exit code is that of the failures, or 1 if \
      they differ. For a folder without files it is 66, unless --allow-empty is given.
      """,
      """
      With --manifest the objects are compared with a list that put --manifest has written, and no file is needed. \
      With --deep each object is downloaded, and every byte compared; nothing is written.
      """,
    ],
    arguments: [
      Item(term: "FILE", doc: "The file; - if it is open on standard input."),
      Item(term: "DIR", doc: "A folder, with -r."),
      Item(
        term: "s3://BUCKET/KEY", doc: "The object. If it ends with a slash, the file's name is added."),
    ])
}
