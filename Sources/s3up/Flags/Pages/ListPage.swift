extension CommandPage {
  static let ls = CommandPage(
    name: .ls, summary: "list what is in a bucket, or the buckets",
    synopses: ["s3up ls [OPTIONS] [s3://BUCKET[/PREFIX]]"],
    examples: [
      Example(what: "The buckets", line: "s3up ls"),
      Example(
        what: "What is in a folder, with sizes for people", line: "s3up ls -l --human-readable s3://my-bucket/backups/"),
      Example(
        what: "How many bytes all objects have",
        line: "s3up ls -rl s3://my-bucket | awk '{ sum += $1 } END { print sum }'"),
      Example(what: "Every key, whatever it contains", line: "s3up ls -r -0 s3://my-bucket | xargs -0 -n1 echo"),
    ],
    about: [
      """
      Prints a whole key on each line, in the store's order. Keys that have a slash behind PREFIX are shown as the folder \
      that they have in common, unless -r is given. PREFIX is only what keys begin with: a/b also finds a/bc.
      """,
      """
      Pages of 1000 keys are printed as they come, while the next one is on its way; memory does not grow with their \
      number. A reader that ends early, such as head, ends the list, which is no failure. If no key begins with PREFIX, \
      the exit code is 69.
      """,
    ],
    arguments: [
      Item(
        term: "s3://BUCKET[/PREFIX]",
        doc: "The bucket, or its keys that begin with PREFIX. Without it the buckets of the credentials are listed.")
    ])
}
