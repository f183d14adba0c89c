extension CommandPage {
  static let doctor = CommandPage(
    name: .doctor, summary: "find out why uploads fail, or would",
    synopses: ["s3up doctor [OPTIONS] [s3://BUCKET[/PREFIX]]"],
    examples: [
      Example(what: "Whether a bucket takes uploads", line: "s3up doctor s3://my-bucket/backups/"),
      Example(what: "Only what is wrong, in a script", line: "s3up doctor -q s3://my-bucket || exit"),
      Example(what: "Credentials, endpoint and clock, without a bucket", line: "s3up doctor"),
      Example(
        what: "A store that is not AWS", line: "s3up doctor s3://images --endpoint-url https://s3.example.com"),
    ],
    about: [
      """
      Checks everything that an upload needs, and reports what it found: the credentials, where they come from and until \
      when they hold; region and endpoint, and who set them; addresses, connection, TLS and clock; whether the bucket takes \
      an upload, and whether a rule ends those that nobody finishes; the folder of the records. Each trouble is followed by \
      the line that mends it.
      """,
      """
      To know whether the bucket takes an upload, one is begun below the prefix under a name of its own \
      (.s3up-doctor-...), a part of a few bytes is sent and listed, and the upload is ended and seen to be gone. No object \
      is made.
      """,
      """
      A line begins with ok, with warn where uploads work and something is better mended, or with fail. The exit code is 0 \
      unless something failed, and then that of the first failure. With -q only warn and fail are shown. With --json each \
      finding is an object on a line: event (finding), check, mark, message, hint, exit, and facts, an object.
      """,
      """
      Where nobody answers it ends within a quarter of a minute: a connection gets 4 s and an answer 5 s, unless \
      --connect-timeout and --stall-timeout say otherwise. Secrets are not shown, and of the access key id its ends alone.
      """,
    ],
    arguments: [
      Item(
        term: "s3://BUCKET[/PREFIX]",
        doc: "The bucket to upload to, and what the keys begin with where only those are allowed.")
    ])
}
