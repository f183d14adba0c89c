extension CommandPage {
  static let verify = CommandPage(
    name: .verify, summary: "prove that an object is a file, without downloading it",
    synopses: [
      "s3up verify [OPTIONS] FILE s3://BUCKET/KEY", "s3up verify -r [OPTIONS] DIR... s3://BUCKET/PREFIX/",
      "s3up verify --files-from LIST [OPTIONS] s3://BUCKET/PREFIX/",
    ],
    examples: [
      Example(what: "Is it whole, and the same?", line: "s3up verify disk.img s3://my-bucket/disk.img"),
      Example(
        what: "Only then delete it here", line: "s3up verify -q backup.tar s3://my-bucket/backups/ && rm backup.tar"),
      Example(what: "All of a folder", line: "s3up verify -r /srv/data s3://backup/data"),
    ],
    about: [
      """
      Reads the file, and compares it with what the store has of the object: the size, then the checksum of the whole \
      object, the checksums of its parts, its ETag, or an MD5 that another client has noted. The strongest that there is \
      decides, and the result names it. Times never count.
      """,
      """
      The exit code is 0 if the object is the file, 65 if it is not, or if the file changes while it is read, and 69 if there \
      is no object, or if nothing that the store tells decides it; the message says what it lacks.
      """,
      """
      With -r each file of a folder is compared with the object that put -r makes of it, several at a time. Objects that have \
      no file are not looked at. A failure of one does not stop the others; the exit code is that of all failures, or 1 if \
      they have several. A folder without a file is 66, unless --allow-empty is given.
      """,
    ],
    arguments: [
      Item(term: "FILE", doc: "The file; - if it is open on standard input."),
      Item(term: "DIR", doc: "A folder, with -r."),
      Item(
        term: "s3://BUCKET/KEY", doc: "The object. If it ends in a slash, the file's name is added."),
    ])
}
