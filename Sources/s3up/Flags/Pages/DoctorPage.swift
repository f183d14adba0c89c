extension CommandPage {
  static let doctor = CommandPage(
    name: .doctor, summary: "find out why uploads fail, or would fail",
    synopses: ["s3up doctor [OPTIONS] [s3://BUCKET[/PREFIX]]"],
    examples: [
      Example(what: "Whether a bucket accepts uploads", line: "s3up doctor s3://my-bucket/backups/"),
      Example(what: "Only what is wrong, in a script", line: "s3up doctor -q s3://my-bucket || exit"),
      Example(what: "Credentials, endpoint and clock, without a bucket", line: "s3up doctor"),
      Example(
        what: "A store that is not AWS", line: "s3up doctor s3://images --endpoint-url https://s3.example.com"),
    ],
    about: [
      """
      Checks everything that an upload needs, and reports what it found: the credentials, where they come from and when \
      they expire; region and endpoint, and where they were set; addresses, connection, TLS and clock; whether the bucket \
      accepts an upload, and whether a rule aborts unfinished ones; the state folder. Each problem is followed by a line \
      that says how to fix it.
      """,
      """
      To find out whether the bucket accepts an upload, one is begun below the prefix with a unique name \
      (.s3up-doctor-...), a part of a few bytes is sent and listed, then the upload is aborted and confirmed to be \
      gone. No object is created.
      """,
      """
      A line begins with ok, with warn if uploads work but something should be fixed, or with fail. The exit code is 0, or \
      that of the first failure. With -q only warn and fail are shown. With --json each finding is one object per line: \
      event (finding), check, mark, message, hint, exit, and facts, an object.
      """,
      """
      Without any answer it ends within 15 seconds: it waits 4 s for a connection and 5 s for a response, unless \
      --connect-timeout and --stall-timeout say otherwise. Secrets are not shown, and of the access key id only the \
      beginning and the end.
      """,
    ],
    arguments: [
      Item(
        term: "s3://BUCKET[/PREFIX]",
        doc: "The bucket to upload to, and a prefix if only keys below it are allowed.")
    ])
}
