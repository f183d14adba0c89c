extension CommandPage {
  static let get = CommandPage(
    name: .get, summary: "bring an object back, and prove that it is the same",
    synopses: ["s3up get [OPTIONS] s3://BUCKET/KEY [FILE|DIR/|-]"],
    examples: [
      Example(what: "Into this folder, under the key's last name", line: "s3up get s3://my-bucket/backups/backup.tar"),
      Example(what: "Into a file that may be there", line: "s3up get s3://my-bucket/disk.img disk.img --overwrite"),
      Example(what: "Into a pipe", line: "s3up get s3://my-bucket/src.tar.gz - | tar xz"),
    ],
    about: [
      """
      Loads the object in ranges, several at a time, into a file beside the target, and proves it by the strongest \
      evidence that the store has: a checksum of the whole object, the checksums of its parts, its ETag, an MD5 that \
      another client has noted, or the size alone; the result line names it. Only then has the file its name. If the \
      object is replaced meanwhile, or is not what the store says, the exit code is 65 and nothing is under the name.
      """,
      """
      After any interruption the same command resumes: bytes on disk count if they still have the checksum that they \
      came with.
      """,
      """
      To standard output, a named pipe or a device the bytes go in order. The last range is held back until all of them \
      are proven; if they are not, the reader never gets it, and the exit code is 65.
      """,
    ],
    arguments: [
      object,
      Item(
        term: "FILE|DIR/|-",
        doc: "The target; in a folder it has the key's last name, and - is standard output. Without it, this folder."),
    ])
}
