extension CommandPage {
  static let put = CommandPage(
    name: .put, summary: "upload files, folders, or what a command prints",
    synopses: [
      "s3up put [OPTIONS] FILE s3://BUCKET/KEY", "s3up put [OPTIONS] FILE... s3://BUCKET/PREFIX/",
      "s3up put [OPTIONS] -r DIR... s3://BUCKET/PREFIX/", "s3up put [OPTIONS] --files-from FILE s3://BUCKET/PREFIX/",
      "s3up put [OPTIONS] - s3://BUCKET/KEY", "s3up put [OPTIONS] FILE --ticket TICKET",
      "s3up put [OPTIONS] --from-command s3://BUCKET/KEY -- CMD [ARG...]",
    ],
    examples: [
      Example(what: "Upload a file", line: "s3up put backup.tar s3://my-bucket/backups/backup.tar"),
      Example(
        what: "The contents of a folder: build/lib/x.so becomes 1234/lib/x.so",
        line: "s3up put -r build s3://artifacts/1234/ --exclude '*.o'"),
      Example(
        what: "Back up a database, and publish nothing if the dump fails",
        line: "s3up put --from-command s3://my-bucket/db.sql.zst -- bash -c 'set -o pipefail; pg_dump mydb | zstd'"),
      Example(what: "Keep the file's name", line: "s3up put backup.tar s3://my-bucket/backups/"),
      Example(
        what: "To a store that is not AWS, without replacing an object",
        line: "s3up put --endpoint-url https://s3.example.com --if-none-match disk.img s3://images/disk.img"),
      Example(
        what: "Every night only what has changed, with a list of all objects",
        line: "s3up put -r /srv/data s3://backup/data/ --skip-same --manifest s3://backup/data.jsonl"),
      Example(what: "With a ticket, without credentials", line: "s3up put disk.img --ticket ticket.json"),
      Example(
        what: "The third of eight nodes that share the upload of one file",
        line: "s3up put disk.img --ticket ticket.json --shard 3/8"),
      Example(what: "At most 2 MiB per second", line: "s3up put --limit-rate 2M video.mkv s3://my-bucket/video.mkv"),
    ],
    about: [
      """
      Sends the file in parts, several at a time, and has the store assemble them. Every part carries a checksum that \
      the store verifies. Exit code 0 means that the store has confirmed the object, and that its checksum, ETag or size \
      matches the bytes that were read; the result line names the evidence.
      """,
      """
      The file is checked before, during and after sending: if it grew, shrank or was rewritten, nothing is published \
      and the exit code is 65. If it was only touched (chmod, link), it is read again at the end and compared, which \
      also detects a file that was rewritten with its times restored.
      """,
      """
      After any interruption the same command resumes: parts that the store has and that still match the file are not \
      sent again. An upload that cannot be resumed is aborted, so that no parts are left behind that cost money. A \
      stream cannot be read again, so if its upload fails, it is aborted; after kill -9 the next run for its key does that.
      """,
      """
      Several files share one window of connections, and each has its own result line, retries and record. If one \
      fails, the others continue; if 16 have failed for the same reason and none has arrived, the run ends. The exit \
      code is that of the failures, or 1 if they differ. The same command continues a run that was killed: confirmed \
      objects are not sent again.
      """,
    ],
    arguments: [
      Item(
        term: "FILE",
        doc: """
          The file to upload, several of them, or with -r folders; - is standard input. A regular file on standard \
          input (<FILE) is read from its current offset, and its upload can be resumed like that of a named file; \
          anything else is a stream, and so is a named pipe.
          """),
      Item(
        term: "s3://BUCKET/KEY",
        doc: "The destination. A key that ends in / is a prefix: the file keeps its name below it."),
    ])

  static let create = CommandPage(
    name: .create, summary: "begin a multipart upload and print its id",
    synopses: ["s3up create [OPTIONS] s3://BUCKET/KEY"],
    examples: [
      Example(what: "Begin an upload", line: "id=$(s3up create s3://my-bucket/disk.img)"),
      Example(
        what: "With a content type and metadata",
        line: "s3up create --content-type video/mp4 --metadata origin=studio s3://my-bucket/film.mp4"),
    ],
    about: [
      """
      Creates a multipart upload and prints its id as a single line. The object's type, metadata, encryption and lock \
      are set here. The parts cost money until complete or abort.
      """,
      """
      A store may silently ignore what it does not support, which only the object shows. So give complete the same \
      options: it checks that the object has them.
      """,
    ], arguments: [object])

  static let part = CommandPage(
    name: .part, summary: "send one part of an upload and print its ETag",
    synopses: [
      "s3up part [OPTIONS] FILE s3://BUCKET/KEY --upload-id ID --part N [--offset SIZE --length SIZE]",
      "s3up part [OPTIONS] FILE --url URL [--offset SIZE --length SIZE]",
    ],
    examples: [
      Example(
        what: "Send the second 64 MiB as part 2",
        line: "s3up part disk.img s3://my-bucket/disk.img --upload-id \"$id\" --part 2 --offset 64M --length 64M"),
      Example(
        what: "Send a part to a presigned URL, without credentials",
        line: "s3up part disk.img --url \"$url\" --length 64M"),
    ],
    about: [
      """
      Sends one slice of the file as one part and prints its ETag. Every part but the last must have at least 5 MiB. A \
      part that is sent again replaces the earlier one.
      """
    ],
    arguments: [
      Item(term: "FILE", doc: "The file that holds the part."),
      Item(term: "s3://BUCKET/KEY", doc: "The object of the upload; not with --url."),
    ])

  static let parts = CommandPage(
    name: .parts, summary: "list the parts of an upload that the store has",
    synopses: ["s3up parts [OPTIONS] s3://BUCKET/KEY --upload-id ID"],
    examples: [
      Example(what: "List the parts", line: "s3up parts s3://my-bucket/disk.img --upload-id \"$id\"")
    ],
    about: [
      """
      Lists number, size, ETag and checksums of each part, one per line, as the store lists them. complete --parts-file \
      accepts the output.
      """
    ], arguments: [object])

  static let complete = CommandPage(
    name: .complete, summary: "assemble the parts of an upload into the object",
    synopses: ["s3up complete [OPTIONS] s3://BUCKET/KEY --upload-id ID [--parts-file FILE] [--allow-gaps]"],
    examples: [
      Example(
        what: "Assemble all parts that the store has",
        line: "s3up complete s3://my-bucket/disk.img --upload-id \"$id\""),
      Example(
        what: "Assemble only the parts of a list",
        line: "s3up complete s3://my-bucket/disk.img --upload-id \"$id\" --parts-file parts.txt"),
    ],
    about: [
      """
      Assembles the parts in the order of their numbers. They are taken from the store's own list, or from a file. If a \
      number from 1 to the last is missing, nothing is assembled and the exit code is 65, unless --allow-gaps is given. \
      If the store's answer is lost, the object is checked before the result is reported.
      """,
      """
      The options for type, metadata, tags, access, encryption and lock change nothing here: they repeat those of \
      create, and it is a failure (69) if the object differs. Without them these properties are not checked.
      """,
    ], arguments: [object])

  static let abort = CommandPage(
    name: .abort, summary: "abort an upload and check that nothing is left of it",
    synopses: ["s3up abort [OPTIONS] s3://BUCKET/KEY --upload-id ID"],
    examples: [Example(what: "Abort an upload", line: "s3up abort s3://my-bucket/disk.img --upload-id \"$id\"")],
    about: [
      """
      Aborts the upload and lists its parts afterwards: it succeeds once the store has none left, or if it may not list \
      them, which it says. An existing object is not touched. This machine's record of the upload is removed; while a run \
      is working on the upload, nothing is done, and the exit code is 75.
      """,
      """
      A store gives the same answer for an upload that has ended, for an ID that never existed, and for an ID of another \
      key. Unless it is known that the upload was at this key, the exit code is 69; if another key of the bucket has the \
      upload, the message names it.
      """,
    ], arguments: [object])

  static let uploads = CommandPage(
    name: .uploads, summary: "list unfinished uploads, and clean them up",
    synopses: ["s3up uploads [OPTIONS] [s3://BUCKET[/PREFIX]] [--clean [--older-than DURATION] [--all] [--dry-run]]"],
    examples: [
      Example(what: "Uploads recorded on this machine", line: "s3up uploads"),
      Example(
        what: "List what would be cleaned up, including uploads of other machines",
        line: "s3up uploads s3://my-bucket --clean --all --older-than 7d --dry-run"),
      Example(what: "All uploads of a bucket", line: "s3up uploads s3://my-bucket"),
      Example(what: "Uploads below a prefix", line: "s3up uploads s3://my-bucket/backups/"),
    ],
    about: [
      """
      Lists the uploads that were neither completed nor aborted, with age, parts, bytes, id and object: those recorded on \
      this machine, or with a bucket those at the store. A record may have fewer parts than the store.
      """,
      """
      With --clean they are aborted: those that this machine has recorded, or with --all every upload of the bucket. \
      An abort is repeated until the store confirms that nothing is left.
      """,
    ],
    arguments: [Item(term: "s3://BUCKET[/PREFIX]", doc: "The bucket, or its keys that begin with PREFIX.")])

  static let presign = CommandPage(
    name: .presign, summary: "print a URL that lets others get, put or delete",
    synopses: [
      "s3up presign [OPTIONS] s3://BUCKET/KEY [--method METHOD] [--expires DURATION]",
      "s3up presign [OPTIONS] s3://BUCKET/KEY --upload-id ID --part N|A-B [--content-md5-file FILE]",
    ],
    examples: [
      Example(what: "A link for a day", line: "s3up presign s3://my-bucket/report.pdf --expires 1d"),
      Example(
        what: "Let someone put one object",
        line: "s3up presign s3://my-bucket/inbox/data.csv --method PUT --content-type text/csv"),
      Example(
        what: "URLs for 40 parts, one per line",
        line: "s3up presign s3://my-bucket/disk.img --upload-id \"$id\" --part 1-40 --expires 36h"),
    ],
    about: [
      """
      Signs URLs without asking the store. Whoever holds a URL can use it until it expires: after 7 days at most, \
      and no later than the credentials that signed it. Treat it as a secret.
      """
    ], arguments: [object])

  static let ticket = CommandPage(
    name: .ticket, summary: "let others upload one object without credentials",
    synopses: [
      "s3up ticket issue [OPTIONS] FILE s3://BUCKET/KEY -o TICKET",
      "s3up ticket issue [OPTIONS] --size SIZE|--max-size SIZE s3://BUCKET/KEY -o TICKET",
      "s3up ticket issue [OPTIONS] -r DIR s3://BUCKET/PREFIX/ -o TICKETS",
      "s3up ticket show|finish|revoke [OPTIONS] TICKET",
      "s3up ticket renew [OPTIONS] TICKET [--all] [-o FILE]",
    ],
    examples: [
      Example(
        what: "Anyone with the ticket can upload this file, and nothing else",
        line: "s3up ticket issue disk.img s3://my-bucket/disk.img --expires 36h -o ticket.json"),
      Example(
        what: "A stream of up to 20 GiB",
        line: "s3up ticket issue --max-size 20G s3://my-bucket/dump.zst -o ticket.json"),
      Example(
        what: "A page for uploading it in a browser",
        line: "s3up ticket issue film.mov s3://my-bucket/in/film.mov --format html --set-cors -o upload.html"),
      Example(
        what: "A folder, uploaded with s3up put DIR --ticket tickets.jsonl",
        line: "s3up ticket issue -r build s3://artifacts/1234/ -o tickets.jsonl"),
      Example(what: "Show what has arrived", line: "s3up ticket show ticket.json"),
      Example(what: "Revoke it, and abort the upload", line: "s3up ticket revoke ticket.json"),
      Example(
        what: "Renew a ticket that expired during the upload", line: "s3up ticket renew ticket.json --expires 2d"),
    ],
    about: [
      """
      A ticket is a file of presigned requests: for each part of one upload, its list of parts, its completion and \
      its abort. Anyone with the ticket and the file can upload it with s3up put --ticket, from any number of \
      machines; beyond that they can list its parts, abort it, and look at the finished object's size, type and \
      metadata. With FILE the checksum of each part is signed too, so that the \
      store accepts only these bytes: SHA-256 at AWS, elsewhere MD5, which every store verifies.
      """,
      """
      issue begins the upload with the object's type, metadata, encryption and lock. show reports what the store has, \
      finish completes the upload if all of it has arrived, and revoke aborts it, which makes the ticket worthless. \
      These three use the ticket's own requests, and your credentials once it has expired. renew signs what the store \
      still lacks with your credentials. They sign only for a ticket as this machine issued it, because its holder may \
      have edited it.
      """,
      """
      Of a stream (--max-size) nothing at the store shows whether all of it has arrived: only the run that read it to \
      its end knows. So finish publishes what such a run has left behind only with --as-it-is.
      """,
      """
      A ticket is valid for at most 7 days, and no longer than the credentials that sign it: keys of a role or of a login \
      often end after an hour, and the command says so.
      """,
    ],
    arguments: [
      Item(term: "FILE", doc: "The file to be uploaded."),
      Item(term: "s3://BUCKET/KEY", doc: "The object to be created."),
      Item(term: "TICKET", doc: "A file that issue wrote, in any form; - is standard input."),
    ])

  static let help = CommandPage(
    name: .help, summary: "explain a command or a topic, or search for a word",
    synopses: ["s3up help [COMMAND|TOPIC|WORD...]", "s3up help --man"],
    examples: [
      Example(what: "Everything about put", line: "s3up help put"),
      Example(what: "Search for rates", line: "s3up help rate"),
      Example(what: "What the exit codes mean", line: "s3up help exit-codes"),
      Example(what: "Read the manual page", line: "s3up help --man | man -l -"),
    ],
    about: [
      """
      Explains a command, or one of the topics; any other word is searched in options, commands and topics. On a terminal \
      that is too short for the text it is shown by $PAGER, else by less or more. COMMAND -h is the short form, of one \
      screen.
      """
    ],
    arguments: [
      Item(term: "COMMAND", doc: "The command to explain, also an action: ticket issue."),
      Item(term: "TOPIC", doc: HelpTopic.words.joined(separator: ", ") + "."),
      Item(term: "WORD", doc: "The word to search for; several words must all be found together."),
    ])

  static let completions = CommandPage(
    name: .completions, summary: "print the script that completes s3up in a shell",
    synopses: ["s3up completions \(ShellChoice.words.joined(separator: "|"))"],
    examples: [
      Example(what: "In the current bash", line: "source <(s3up completions bash)"),
      Example(
        what: "Permanently, in zsh", line: "s3up completions zsh > \"${fpath[1]}/_s3up\""),
      Example(
        what: "Permanently, in fish", line: "s3up completions fish > ~/.config/fish/completions/s3up.fish"),
    ],
    about: [
      """
      Prints the completion script of a shell. It completes commands, options, values, profiles and files, and where the \
      environment or the profile has credentials, buckets and keys: at most 200, after at most three seconds. They are \
      kept for a minute, in ~/.cache/s3up/completions.
      """
    ],
    arguments: [Item(term: "SHELL", doc: ShellChoice.words.joined(separator: ", ") + ".")])
}
