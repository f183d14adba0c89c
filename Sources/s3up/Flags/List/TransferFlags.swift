import MultipartCore

extension FlagList {
  static let transfer: [Flag] = [
    Flag(
      .partSize, .value("SIZE|auto"), .transfer, [.files, .issue],
      "Size of one part: 5M to 5G, or auto.",
      more: """
        With auto a part is 8 MiB, or more if the file would otherwise need over 10,000 parts. If the line to this \
        store was slow or lost packets the last time, parts are 5 MiB; so are parts of files below 2 GiB if a round \
        trip takes 1 ms or more and the line was not fast. If it was fast, parts of a large file are 16 or 32 MiB. A \
        resumed upload keeps its part size. A file no longer than one part is sent in a single request.
        """, standard: "auto", choices: ["auto"], open: true),
    Flag(
      .partSize, .value("SIZE|auto"), .transfer, .get, "Size of one range: 64K to 5G, or auto.",
      more: """
        With auto it is 8 MiB, or 4 MiB where the bytes are written in order: to standard output, a pipe or a command. \
        There up to 64 MiB of ranges are kept in memory, or two ranges if these are larger.
        """,
      standard: "auto", choices: ["auto"], open: true),
    Flag(
      .equalParts, .toggle, .transfer, .files, "Cut a stream into equal parts of 32 MiB, for stores that require it.",
      more: "Otherwise a stream's parts grow, so that it can have any length. With --part-size they are equal too.",
      negatable: true),
    Flag(
      .fromCommand, .toggle, .transfer, [.one, .byTicket], "Upload what a command prints.",
      more: """
        The command stands after --: put --from-command s3://BUCKET/KEY -- CMD ARG... Nothing is published unless it \
        exits with code 0. A pipeline's exit code is that of its last command, unless the shell has an option such as \
        bash's set -o pipefail; some sh have none. The command's standard error is shown, line by line above a \
        progress bar. If the command fails, the run ends at once. If it succeeds, its output is read to the end, \
        including what its background processes still print; --deadline limits that. A run that fails or is stopped \
        kills the command and its background processes; they have their own process group unless s3up has the \
        terminal.
        """, common: .one),
    Flag(
      .concurrency, .value("N|auto"), .transfer, [.put, .get, .verify],
      "Number of parts in flight at the same time: 1 to 1000, or auto.",
      more: """
        With auto it starts with 8, or fewer if the line was slow the last time, and uses more as long as the rate \
        grows with them, up to \(StoreOptions.Connections.most), or \(StoreOptions.Connections.mostWhenLossy) if each of them loses \
        packets, and \(StoreOptions.Connections.mostForSmall) for many small files. It uses fewer if more do not help, if the store asks for fewer, or if the parts in flight would take \
        more than ten seconds, so that an interruption costs no more than that. A stream uses at most 8. A number N \
        is fixed, so on a slow line an interruption may cost more.
        """, standard: "auto", choices: ["auto"], open: true),
    Flag(
      .tcpCongestion, .value("auto|system|NAME"), .transfer, [.put, .part, .get],
      "TCP congestion control of the connections.",
      more: """
        With auto it is the system's default, or BBR once the line has lost packets, if the kernel has it and lets \
        this user choose it. NAME is one in /proc/sys/net/ipv4/tcp_allowed_congestion_control.
        """, standard: "auto", choices: ["auto", "system"], open: true),
    Flag(
      .hedge, .value("auto|off"), .transfer, [.put, .get], "Transfer a part a second time if it delays the end.",
      more: """
        With auto an idle connection also sends a part that is slow on another connection, and the first to arrive \
        counts. With off no byte is sent twice unless a try has failed, for lines where every byte costs money.
        """, standard: "auto", choices: ["auto", "off"]),
    Flag(
      .limitRate, .value("RATE|off"), .transfer, [.put, .part, .get, .verify],
      "At most RATE bytes per second, over all connections.",
      more: """
        RATE is a SIZE per second, a whole number: 2M, 2M/s, 500K; or several, each with the time of day from which \
        it applies, such as 08:00=2M,19:00=off, by the local clock, every day. Only as many parts are sent at once as \
        the rate allows in ten seconds; below 1 MiB per second parts are 5 MiB.
        """, standard: "off", choices: ["off"], open: true, common: [.put, .get]),
    Flag(
      .retries, .value("N"), .transfer, .patient, "How often one request is tried before it is given up, 1 to 1000.",
      more: """
        The waits between tries grow, vary at random, and last at least as long as the store asks for, but not over 5 \
        minutes. If nothing at the address has answered in this run, it gives up after about ten seconds whatever N is, \
        because the address is probably wrong.
        """,
      standard: "10"),
    Flag(
      .stallTimeout, .value("DURATION"), .transfer, .store,
      "Abort and retry a request if no byte was sent or received for this long.",
      more: """
        Without this option a store may be silent for ten minutes while it assembles the parts of an upload; DURATION \
        limits that too. Any byte from the store, even a space, restarts the timer.
        """, standard: "30s"),
    Flag(
      .connectTimeout, .value("DURATION"), .transfer, .store, "How long to wait for a connection.",
      standard: "10s"),
    Flag(
      .deadline, .value("DURATION"), .transfer, .put,
      "End the run after this time at the latest, with exit code 75.",
      more: """
        Everything counts towards it: finding credentials and the store, reading, sending, waiting for retries, and \
        the store's assembly of the parts. The upload is kept, and the same command resumes it. The upload of a \
        stream cannot be resumed, so it is aborted: for that the last quarter of the time is reserved, at most four \
        seconds.
        """),
    Flag(
      .deadline, .value("DURATION"), .transfer, .get,
      "End the run after this time at the latest, with exit code 75.",
      more: """
        Everything counts towards it: finding credentials and the store, receiving, waiting for retries, and the \
        proof. What was written to files is kept, and the same command resumes it.
        """),
    Flag(
      .deadline, .value("DURATION"), .transfer, .verify,
      "End the run after this time at the latest, with exit code 75.",
      more: """
        Everything counts towards it: finding credentials and the store, reading the files, and waiting for the store. \
        The next run begins anew.
        """),
  ]

  static let resume: [Flag] = [
    Flag(
      .resume, .value("WHEN"), .resume, .files,
      "Resume an unfinished upload of the same file: auto, adopt, never or require.",
      more: """
        With auto the upload that this machine has recorded is resumed; every part is first compared with the file, \
        so the upload of a file that was only touched is resumed too. With adopt a run without a record (on another \
        machine, in a fresh CI job) also resumes an upload that it finds at the store, if all its parts match the \
        file and nothing was sent to it for a minute; if necessary it waits that long. Stores list a part only when \
        it is complete, so another client whose parts take longer than a minute goes unnoticed. The object then has \
        the access rules, encryption, metadata and content type that the upload was created with, which no store \
        shows: adopt only where you trust everyone who may begin uploads. A run with options for these adopts no \
        upload. With never a new upload is started, and the recorded one is aborted. With require the run fails if \
        this machine has not recorded one.
        """, standard: "auto", choices: ResumeMode.words),
    Flag(
      .onInterrupt, .value("WHAT"), .resume, .files, "On SIGINT, SIGTERM or SIGHUP: keep the upload or abort it.",
      standard: "keep", choices: ["keep", "abort"]),
    Flag(
      .waitLock, .optional("DURATION"), .resume, .files,
      "Wait for another run of s3up that is uploading to the same object.",
      more:
        "Without it the second run ends with exit code 75. DURATION limits the wait; without it there is no limit."
    ),
  ]

  static let integrity: [Flag] = [
    Flag(
      .checksum, .value("ALGORITHM"), .integrity, [.files, .create, .part, .issue],
      "Checksum that the store verifies: \(ChecksumForm.words.joined(separator: ", ")).",
      more: """
        With auto it is CRC64NVME. A store that refuses it, or does not return it and so has not verified it, gets \
        Content-MD5 instead, and this is remembered for its endpoint. Without the option create names no algorithm, \
        because S3 would then refuse parts that are sent without one, such as a plain PUT to a URL, and part sends \
        Content-MD5, or over plain http a signed SHA-256. In AWS_REQUEST_CHECKSUM_CALCULATION, \
        when_supported means auto and when_required means md5.
        """, standard: "auto", choices: ChecksumForm.words),
    Flag(
      .payloadSigning, .value("WHEN"), .integrity, [.files, .partSigned],
      "Sign the SHA-256 of what is sent: auto, always or never.",
      more: """
        With auto it is signed over plain HTTP and with --insecure, but not over verified TLS, which already protects \
        the bytes.
        """,
      standard: "auto", choices: PayloadSigning.words),
    Flag(
      .verify, .toggle, .integrity, .files, "Afterwards compare the object's size and checksum, by a HEAD.",
      negatable: true),
    Flag(
      .deep, .toggle, .integrity, .verify, "Download the object and compare every byte.",
      more: """
        Nothing is written, and what the store says about the object does not count: this also decides where the \
        store reveals nothing that would. It takes up to 64 MiB of memory; of many large objects, two are compared at \
        a time.
        """, common: .verify),
    Flag(
      .expectSize, .value("BYTES"), .integrity, [.one, .byTicket],
      "Publish nothing unless the source has exactly this size."),
    Flag(
      .minSize, .value("SIZE"), .integrity, .put, "Publish nothing that is smaller than this."),
    Flag(
      .expectSHA256, .value("HEX"), .integrity, [.one, .byTicket], "Publish nothing unless the source has this SHA-256."
    ),
  ]

  static let conditions: [Flag] = [
    Flag(
      .ifNoneMatch, .toggle, .conditions, [.files, .complete, .issue], "Create only: fail if the object exists.",
      more: "Checked before the first byte is sent, or when a ticket is issued, and by the store at the end.",
      negatable: true,
      common: [.files, .complete]),
    Flag(
      .ifMatch, .value("ETAG"), .conditions, [.one, .complete, .issueOne],
      "Replace only: fail unless the object has this ETag."),
  ]
}
