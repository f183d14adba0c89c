import MultipartCore

extension FlagList {
  static let connection: [Flag] = [
    Flag(
      .endpointURL, .value("URL"), .connection, .signed, "The store's address, for any store but AWS.",
      more: """
        Without the bucket, which is in s3://BUCKET/KEY. The variables win over the profile's services section and \
        endpoint_url. With AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true only the option and S3UP_ENDPOINT_URL count.
        """, common: .signed),
    Flag(
      .region, .value("REGION"), .connection, .signed, "Region of the bucket.",
      more: """
        If it is not set, AWS is asked where the bucket is. If the bucket is in another region, requests go there, once \
        per run, and a message says so.
        """, standard: "the profile's, else the bucket's own; us-east-1 for other stores"),
    Flag(
      .profile, .value("NAME"), .connection, .signed, "Profile of the shared AWS files.", standard: "default",
      completes: .profiles, common: .signed),
    Flag(
      .addressing, .value("STYLE"), .connection, .signed,
      "Where the bucket's name is put: virtual (in the host name), path, or auto.",
      more: """
        A bucket named by an ARN, or a directory bucket of S3 Express, is always in the host name. On AWS, path also \
        allows names that only buckets from before 2018 have, and an endpoint URL that seems to contain the bucket.
        """,
      standard: "auto",
      choices: Addressing.words),
    Flag(
      .accelerate, .toggle, .connection, .signed, "Use S3 Transfer Acceleration, which must be enabled for the bucket.",
      negatable: true),
    Flag(
      .dualstack, .toggle, .connection, .signed, "Use AWS's endpoints that have IPv6 addresses too.",
      negatable: true),
    Flag(
      .fips, .toggle, .connection, .signed, "Use AWS's endpoints with FIPS 140 validated cryptography.",
      negatable: true),
    Flag(
      .caBundle, .value("FILE"), .connection, .store, "Certificates to trust instead of the system's (PEM).",
      standard: "SSL_CERT_FILE and SSL_CERT_DIR, else the system's",
      completes: .files),
    Flag(
      .insecure, .toggle, .connection, .store, "Do not verify the server's certificate.",
      more: "Whoever is on the network path can then read and change everything.", negatable: true),
    Flag(
      .proxy, .value("URL"), .connection, .store, "Proxy to use.",
      more: "Give a proxy with a password in S3UP_PROXY, because other users of this machine can see arguments.",
      standard: "HTTPS_PROXY, HTTP_PROXY, NO_PROXY"),
    Flag(
      .requestPayer, .toggle, .connection, .signed, "Agree to pay for the requests to a requester-pays bucket.",
      negatable: true),
    Flag(
      .expectedBucketOwner, .value("ID"), .connection, .signed, "Fail unless the bucket belongs to this account."),
    Flag(.noSignRequest, .toggle, .connection, .signed, "Send requests without credentials."),
  ]

  static let state: [Flag] = [
    Flag(
      .stateDir, .value("DIR"), .state, [.signed, .getURL],
      "Where s3up keeps the records of unfinished uploads, and what it has learned about stores and identities.",
      more: """
        If it does not exist, it is created for this user only; the mode of an existing one is not changed. If other \
        users can write to it, s3up keeps everything in a subfolder of its own. It trusts no file that another user \
        owns or can write.
        """,
      standard: "$XDG_STATE_HOME/s3up, else ~/.local/state/s3up", completes: .directories)
  ]

  static let output: [Flag] = [
    Flag(
      .progress, .value("HOW"), .output, [.put, .part, .get], "Progress on standard error: auto, bar, plain or none.",
      more: """
        With auto there is a bar on a terminal, in a CI job a line at once and every 30 s, and nothing elsewhere; plain is \
        one line every 10 s.
        """,
      standard: "auto", choices: ProgressChoice.words),
    Flag(
      .explain, .toggle, .output, .put,
      "Print the plan: part size, parts, concurrency, addressing, checksum, credentials, and why."),
    Flag(
      .notify, .value("URL"), .output, [.put, .get, .verify], "Tell URL how the run has ended, by a POST of JSON.",
      more: """
        The body is the last object that --json prints: of one file its result or failure, of many the summary. It is \
        tried again for up to half a minute. If nobody takes it, one line says so, and the exit code stays what it is. \
        Messages show the host alone: whoever knows the URL can write there, so give it in S3UP_NOTIFY where others can \
        see the command line.
        """),
    Flag(
      .notifyOn, .value("WHEN"), .output, [.put, .get, .verify], "When to tell: always, failure or success.",
      standard: "always", choices: Notification.Occasion.words),
    Flag(
      .notifySecretFile, .value("FILE"), .output, [.put, .get, .verify],
      "Sign what is told with the secret in FILE, or in S3UP_NOTIFY_SECRET.",
      more: "The header X-S3up-Signature-256 is sha256= and the HMAC-SHA-256 of the body in hexadecimal digits.",
      completes: .files),
    Flag(
      .dotenv, .value("FILE"), .output, [.one, .byTicket],
      "Write S3_ETAG, S3_VERSION_ID, S3_URL and S3_KEY of the object to FILE.",
      more: "As a dotenv report, from which later jobs of GitLab have them as variables.", completes: .files),
    Flag(
      .trace, .value("FILE"), .output, [.put, .get],
      "Write what the run did over time to FILE, for Perfetto or Chrome.",
      more: """
        In the Trace Event Format: a track for each connection with the parts, requests and failures on it, and tracks \
        for waits, checksums, and what each object was going through. ui.perfetto.dev and chrome://tracing show it. It is \
        written at the end, also after a failure or a signal, and has names and addresses in it, but no URLs, headers or \
        secrets. A trace has at most a million events, and says how many were left out.
        """, completes: .files),
    Flag(
      .report, .value("FILE.html"), .output, [.put, .get], "Write a page that shows why the run took its time.",
      more: """
        One HTML file without parts elsewhere: a drawing of what --trace has, the rate over time, retries by their cause, \
        the plan and why, and what was learned of the line.
        """, completes: .files),
    Flag(
      .json, .optional("all"), .output, .store, "Print JSON, one object per line; all: every event.",
      choices: ["all"], common: .store),
    Flag(.quiet, short: "q", .toggle, .output, .store, "Print errors only.", common: .store),
    Flag(
      .verbose, short: "v", .count, .output, .store, "Print more; -vv shows the requests, but never secrets.",
      more: "In the environment the value is the level: 0, 1 or 2."),
    Flag(
      .color, .value("WHEN"), .output, .all, "Color: auto, always or never.",
      more: "If NO_COLOR is set, auto means never.", standard: "auto", choices: ColorChoice.words),
    Flag(
      .man, .toggle, .output, .help, "Print the manual page s3up.1 (roff).", hasVariable: false),
    Flag(.help, short: "h", .toggle, .output, .all, "Show help.", hasVariable: false),
    Flag(.version, .toggle, .output, .all, "Show the version.", hasVariable: false),
  ]
}
