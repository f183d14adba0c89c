extension CommandPage {
  static let head = CommandPage(
    name: .head, summary: "show all that the store tells about an object",
    synopses: ["s3up head [OPTIONS] s3://BUCKET/KEY"],
    examples: [
      Example(what: "Size, checksums, parts, encryption, tags, lock", line: "s3up head s3://my-bucket/disk.img"),
      Example(
        what: "For a program: its size", line: "s3up head s3://my-bucket/disk.img --json | grep -o '\"size\":[0-9]*'"),
    ],
    about: [
      """
      Prints a line for each fact: its name, then its value. Metadata, tags, checksums and whatever else the store's answer \
      has are all shown. Nothing is downloaded.
      """,
      """
      Beside the object's HEAD this takes a HEAD of its first part, and questions for its tags, and for retention and legal \
      hold unless the HEAD shows them. What the store does not tell, or not to these credentials, has a line that begins \
      with unknown, and says why. If there is no object, or no such version, the exit code is 69.
      """,
    ],
    arguments: [object])
}
