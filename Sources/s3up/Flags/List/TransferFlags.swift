import MultipartCore

extension FlagList {
  static let transfer: [Flag] = [
    Flag(
      .partSize, .value("SIZE|auto"), .transfer, [.put],
      "Size of one part: 5M to 5G, or auto.",
      more: """
        With auto a part is 8 MiB, and more when the file would otherwise need over 10,000 parts: 16 or 32 MiB of a \
        large file when the last upload to this store was fast, and 5 MiB when it was slow. A resumed \
        upload keeps its parts. A file that is no longer than one part is sent by a single request.
        """, standard: "auto", choices: ["auto"], open: true),
    Flag(
      .equalParts, .toggle, .transfer, [.put], "Cut a stream into equal parts of 32 MiB, for stores that ask for it.",
      more: "Otherwise a stream's parts grow, so that it may be of any length. With --part-size they are equal too.",
      negatable: true),
    Flag(
      .fromCommand, .toggle, .transfer, [.put],
      "Upload what a command prints: put --from-command s3://BUCKET/KEY -- CMD ARG...",
      more: """
        Nothing is published unless the command ends with exit code 0. What it says on standard error passes through, \
        line by line above a progress bar. \
        When it fails the run ends at once. When it ends well its output is read to the end, also what a process in \
        its background still prints; --deadline bounds that. A run that fails or is stopped ends the command and its \
        background, which runs in a process group of its own unless s3up has the terminal.
        """),
    Flag(
      .concurrency, .value("N|auto"), .transfer, [.put], "Parts that are sent at the same time: 1 to 1000, or auto.",
      more: """
        With auto it begins with 2, has 8 as soon as the line shows that it takes them, and more while the rate grows \
        with them, up to \(ConnectionBounds.most); fewer again where they bring nothing, where the store asks for less, \
        or where what has begun would take longer than ten seconds, which is what an interruption may cost. A stream \
        has at most 8. N stays N, so on a slow line an interruption may cost more.
        """, standard: "auto", choices: ["auto"], open: true),
    Flag(
      .tcpCongestion, .value("auto|system|NAME"), .transfer, [.put, .part],
      "Congestion control of the connections.",
      more: """
        With auto it is the system's, and BBR once the line has shown that it loses packets, where the kernel has it \
        and lets this user choose it. NAME is one of /proc/sys/net/ipv4/tcp_allowed_congestion_control.
        """, standard: "auto", choices: ["auto", "system"], open: true),
    Flag(
      .hedge, .value("auto|off"), .transfer, [.put], "Send a part that holds up the end a second time.",
      more: """
        With auto a connection that has nothing left to do takes over a part that is slow on another one, and the first \
        to arrive counts. With off no byte goes out twice unless a try has failed: for a line on which each one costs.
        """, standard: "auto", choices: HedgeChoice.words),
    Flag(
      .limitRate, .value("RATE|off"), .transfer, [.put, .part],
      "Send at most RATE bytes a second, over all connections.",
      more: """
        RATE is a SIZE a second: 2M, 2M/s, 500K. No more parts are sent at once than it takes in ten seconds, and below \
        1 MiB a second they have 5 MiB.
        """, standard: "off", choices: ["off"], open: true),
    Flag(
      .retries, .value("N"), .transfer, .patient, "Tries of one request before it is given up, 1 to 1000.",
      more: """
        The waits between tries grow, are spread by chance, and are never shorter than the store asks for. Where nobody \
        has answered yet in this run it ends after about ten seconds, whatever N is: a wrong address stays wrong.
        """,
      standard: "10", aws: [FlagVariable("AWS_MAX_ATTEMPTS")]),
    Flag(
      .stallTimeout, .value("DURATION"), .transfer, .store,
      "End and retry a request on which no byte moved for this long.",
      more: """
        Without this option a store that puts the parts of an upload together may take ten minutes without a word; what \
        is given here holds for that too. Whatever comes from the store, spaces too, begins the time anew.
        """, standard: "30s"),
    Flag(
      .connectTimeout, .value("DURATION"), .transfer, .store, "Give a connection this long to be made.",
      standard: "10s"),
    Flag(
      .deadline, .value("DURATION"), .transfer, [.put],
      "End the run at the latest this long after its start, with exit code 75.",
      more: """
        All of it counts: finding credentials and the store, reading, sending, waiting for retries, and the store's time \
        to put the parts together. The upload is kept, and the same command resumes it. That of a stream, which no other \
        run can resume, is aborted: that begins a quarter of the time before the end, but no more than four seconds.
        """),
  ]

  static let resume: [Flag] = [
    Flag(
      .resume, .value("WHEN"), .resume, [.put],
      "Resume an unfinished upload of the same file: auto, adopt, never or require.",
      more: """
        With auto the upload of this machine's own record is resumed; every part is compared with the file first, so \
        that a file which was only touched is resumed too. With adopt a run without a record (on another machine, in a \
        fresh CI job) also takes an upload that it finds at the store, when all its parts are the file's and nobody has \
        sent to it for a minute; if need be it waits that minute out. A store lists a part once it is whole: somebody \
        whose parts take longer than a minute is not noticed. Whoever may begin uploads at this key then \
        decides how the object is made: its access rules, encryption, metadata and content type are those that the \
        upload was created with, and no store shows them. So adopt where you trust all who may write there; a run \
        whose options say how the object shall be adopts none. With never a new upload begins, and the recorded one \
        is aborted. With require the run fails when this machine has no record of one.
        """, standard: "auto", choices: ResumeMode.words),
    Flag(
      .onInterrupt, .value("WHAT"), .resume, [.put], "At SIGINT, SIGTERM or SIGHUP: keep the upload or abort it.",
      standard: "keep", choices: InterruptChoice.words),
    Flag(
      .waitLock, .optional("DURATION"), .resume, [.put],
      "Wait until another run of s3up that is at the same object has ended.",
      more:
        "Without it the second run ends with exit code 75. A DURATION is how long to wait; none is as long as it takes."
    ),
  ]

  static let integrity: [Flag] = [
    Flag(
      .checksum, .value("ALGORITHM"), .integrity, [.put, .create, .part],
      "Checksum that the store verifies: \(ChecksumChoice.words.joined(separator: ", ")).",
      more: """
        With auto it is CRC64NVME; a store that refuses it, or does not give it back and so has not verified it, gets \
        Content-MD5 instead, and this is remembered for its endpoint. In AWS_REQUEST_CHECKSUM_CALCULATION, \
        when_supported means auto and when_required means md5.
        """, standard: "auto", choices: ChecksumChoice.words,
      aws: [
        FlagVariable(
          "AWS_REQUEST_CHECKSUM_CALCULATION", words: ["when_supported": "auto", "when_required": "md5"])
      ]),
    Flag(
      .payloadSigning, .value("WHEN"), .integrity, [.put, .part],
      "Sign the SHA-256 of what is sent: auto, always or never.",
      more: """
        With auto it is signed over plain HTTP, and over TLS with --insecure; else it is left out over TLS, which
        already guards the bytes.
        """,
      standard: "auto", choices: PayloadSigning.words),
    Flag(
      .verify, .toggle, .integrity, [.put], "Ask the store for the object afterwards and compare.", negatable: true),
    Flag(
      .expectSize, .value("BYTES"), .integrity, [.put], "Publish nothing unless the source has exactly this size."),
    Flag(
      .minSize, .value("SIZE"), .integrity, [.put], "Publish nothing that is smaller than this."),
    Flag(
      .expectSHA256, .value("HEX"), .integrity, [.put], "Publish nothing unless the source has this SHA-256."),
  ]

  static let conditions: [Flag] = [
    Flag(
      .ifNoneMatch, .toggle, .conditions, [.put, .complete], "Create only: fail when the object exists.",
      more: "Checked before the first byte is sent, and by the store at the end.", negatable: true),
    Flag(
      .ifMatch, .value("ETAG"), .conditions, [.put, .complete], "Replace only: fail unless the object has this ETag."),
  ]
}
