extension FlagList {
  static let transfer: [Flag] = [
    Flag(
      .partSize, .value("SIZE|auto"), .transfer, [.put],
      "Size of one part: 5M to 5G, or auto.",
      more: """
        With auto a part is 8 MiB, and more when the file would otherwise need over 10,000 parts: 16 or 32 MiB of a \
        large file when the last upload to this store was fast, and 5 MiB when it was slow. An upload that is gone on \
        with keeps its parts. A file that is no longer than one part is sent by a single request.
        """, standard: "auto", choices: ["auto"], open: true),
    Flag(
      .equalParts, .toggle, .transfer, [.put], "Cut a stream into equal parts of 32 MiB, for stores that ask for it.",
      more: "Otherwise a stream's parts grow, so that it may be of any length. With --part-size they are equal too.",
      negatable: true),
    Flag(
      .fromCommand, .toggle, .transfer, [.put],
      "Upload what a command prints: put --from-command s3://BUCKET/KEY -- CMD ARG...",
      more: """
        Nothing is published unless the command ends with exit code 0. What it says on standard error passes through.
        """),
    Flag(
      .concurrency, .value("N|auto"), .transfer, [.put], "Parts that are sent at the same time: 1 to 1000, or auto.",
      more: """
        With auto it begins with 8 and takes more while the rate grows with them, up to \(ConnectionBounds.most), and \
        fewer again where they bring nothing, where the store asks for less, or where a part would take longer than a \
        minute. A stream has at most 8.
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
      more: "RATE is a SIZE a second: 2M, 2M/s, 500K.", standard: "off", choices: ["off"], open: true),
    Flag(
      .retries, .value("N"), .transfer, .patient, "Tries of one request before it is given up, 1 to 1000.",
      more: "The waits between tries grow, are spread by chance, and are never shorter than the store asks for.",
      standard: "10", aws: [FlagVariable("AWS_MAX_ATTEMPTS")]),
    Flag(
      .stallTimeout, .value("DURATION"), .transfer, .store,
      "End and retry a request on which no byte moved for this long.",
      more: "To complete an upload, a store may take ten minutes without a word.", standard: "30s"),
    Flag(
      .connectTimeout, .value("DURATION"), .transfer, .store, "Give a connection this long to be made.",
      standard: "10s"),
    Flag(
      .deadline, .value("DURATION"), .transfer, [.put], "End the run after this long, with exit code 75.",
      more: "The upload is kept, and the same command goes on with it."),
  ]

  static let resume: [Flag] = [
    Flag(
      .resume, .value("WHEN"), .resume, [.put],
      "Go on with an unfinished upload of the same file: auto, never or require.",
      more: """
        With auto the upload that an earlier run left is gone on with, whether it is recorded on this machine or only \
        found at the store; every part is compared with the file first, so that a file which was only touched goes on \
        too. One that is only found is passed by when options say how the object shall be (encryption, access, locks, \
        headers, tags): what it was created with cannot be seen. With never a new upload begins, and a recorded one is \
        aborted. With require the run fails when there is none.
        """, standard: "auto", choices: ResumeChoice.words),
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
      more: "With auto it is signed over plain HTTP and left out over TLS, which already guards the bytes.",
      standard: "auto", choices: PayloadSigningChoice.words),
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
