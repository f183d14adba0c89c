extension CommandPage {
  static let ls = CommandPage(
    name: .ls, summary: "list the keys of a bucket, or the buckets",
    synopses: ["s3up ls [OPTIONS] [s3://BUCKET[/PREFIX]]"],
    examples: [
      Example(what: "The buckets", line: "s3up ls"),
      Example(
        what: "The contents of a folder, with readable sizes",
        line: "s3up ls -l --human-readable s3://my-bucket/backups/"),
      Example(
        what: "The total size of all objects",
        line: "s3up ls -rl s3://my-bucket | awk '{ sum += $1 } END { print sum }'"),
      Example(what: "Every key, whatever it contains", line: "s3up ls -r -0 s3://my-bucket | xargs -0 -n1 echo"),
    ],
    about: [
      """
      Prints a full key on each line, in the store's order. Keys with a slash after PREFIX are shown as the folder \
      that they share, unless -r is given. PREFIX is only what keys begin with: a/b also finds a/bc.
      """,
      """
      Pages of 1000 keys are printed as they arrive, while the next page is being requested; memory does not grow \
      with the number of keys. A reader that exits early, such as head, ends the list, which is not a failure. If no \
      key begins with PREFIX, the exit code is 69.
      """,
    ],
    arguments: [
      Item(
        term: "s3://BUCKET[/PREFIX]",
        doc: "The bucket, or its keys that begin with PREFIX. Without it the buckets of the credentials are listed.")
    ])
}
