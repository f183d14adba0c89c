extension CommandPage {
  static let head = CommandPage(
    name: .head, summary: "show everything that the store knows about an object",
    synopses: ["s3up head [OPTIONS] s3://BUCKET/KEY"],
    examples: [
      Example(what: "Size, checksums, parts, encryption, tags, lock", line: "s3up head s3://my-bucket/disk.img"),
      Example(
        what: "For a program: its size", line: "s3up head s3://my-bucket/disk.img --json | grep -o '\"size\":[0-9]*'"),
    ],
    about: [
      """
      Prints a line for each fact: its name, then its value. Metadata, tags, checksums and everything else in the \
      store's response is shown. Nothing is downloaded.
      """,
      """
      Besides a HEAD of the object this takes a HEAD of its first part, a request for its tags, and requests for \
      retention and legal hold unless the HEAD shows them. For what the store does not reveal, or not to these \
      credentials, a line begins with unknown and gives the reason. If the object or the version does not exist, the \
      exit code is 69.
      """,
    ],
    arguments: [object])
}
