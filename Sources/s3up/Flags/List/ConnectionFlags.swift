import MultipartBasics
import MultipartCore

extension FlagList {
  static let connection: [Flag] = [
    Flag(
      .endpointURL, .value("URL"), .connection, .signed, "Address of the store, for stores other than AWS.",
      more: """
        Give it without the bucket, which is part of s3://BUCKET/KEY. The variables override the profile's services \
        section and endpoint_url. With AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true only the option and S3UP_ENDPOINT_URL \
        count.
        """, common: .signed),
    Flag(
      .region, .value("REGION"), .connection, .signed, "Region of the bucket.",
      more: """
        If it is not set, AWS is asked where the bucket is. If the bucket is in another region, requests go there, \
        and a message says so once per run.
        """, standard: "the profile's, else the bucket's own; us-east-1 for other stores"),
    Flag(
      .profile, .value("NAME"), .connection, .signed, "Profile of the shared AWS files.", standard: "default",
      names: .profile, common: .signed.subtracting(.put)),
    Flag(
      .addressing, .value("STYLE"), .connection, .signed,
      "Where the bucket's name goes: virtual (in the host name), path, or auto.",
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
      .dualstack, .toggle, .connection, .signed, "Use AWS's dual-stack endpoints, which also have IPv6 addresses.",
      negatable: true),
    Flag(
      .fips, .toggle, .connection, .signed, "Use AWS's endpoints with FIPS 140 validated cryptography.",
      negatable: true),
    Flag(
      .caBundle, .value("FILE"), .connection, .store, "Certificates to trust instead of the system's (PEM).",
      standard: "SSL_CERT_FILE and SSL_CERT_DIR, else the system's",
      names: .input),
    Flag(
      .insecure, .toggle, .connection, .store, "Do not verify the server's certificate.",
      more: """
        Anyone on the network path can then read and change everything. The services that issue credentials are always \
        verified.
        """, negatable: true),
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
        users can write to it, s3up uses a subfolder of its own. It trusts no file that another user owns or can \
        write.
        """,
      standard: "$XDG_STATE_HOME/s3up, else ~/.local/state/s3up", names: .directory)
  ]

  static let output: [Flag] = [
    Flag(
      .progress, .value("HOW"), .output, [.put, .part, .get], "Progress on standard error: auto, bar, plain or none.",
      more: """
        With auto it is a bar on a terminal, a line at the start and every 30 s in a CI job, and nothing elsewhere; \
        plain is a line every 10 s.
        """,
      standard: "auto", choices: ProgressChoice.words),
    Flag(
      .title, .value("WHEN"), .output, [.put, .part, .get, .verify],
      "Show the progress in the terminal's title and at its tab: auto, always or never.",
      more: """
        With auto the title is set where the terminal is known to keep its own and to get it back at the end, and the \
        progress is sent (OSC 9;4) where it is known to appear at a tab, in a taskbar or in a dock. always sets the title \
        of any terminal that is not dumb. Both need a progress bar, and nothing is sent from the background.
        """,
      standard: "auto", choices: TitleChoice.words),
    Flag(
      .explain, .toggle, .output, .put,
      "Before the upload, print its plan and why: part size, connections, checksum, credentials."),
    Flag(
      .notify, .value("URL"), .output, [.put, .get, .verify], "Post the outcome of the run as JSON to URL.",
      more: """
        The body is the last object that --json prints: for one file its result or failure, for several the summary. \
        A failed POST is retried for up to half a minute. If it cannot be delivered, one line says so, and the exit \
        code does not change. Messages show only the host: anyone who knows the URL can post there, so set \
        S3UP_NOTIFY instead where others can see the command line.
        """),
    Flag(
      .notifyOn, .value("WHEN"), .output, [.put, .get, .verify], "When to post: always, failure or success.",
      standard: "always", choices: Notification.Occasion.words),
    Flag(
      .notifySecretFile, .value("FILE"), .output, [.put, .get, .verify],
      "Sign the notification with the secret in FILE, or in S3UP_NOTIFY_SECRET.",
      more: "The header X-S3up-Signature-256 is sha256= and the HMAC-SHA-256 of the body in hexadecimal digits.",
      names: .input),
    Flag(
      .dotenv, .value("FILE"), .output, [.one, .byTicket],
      "Write S3_ETAG, S3_VERSION_ID, S3_URL and S3_KEY of the object to FILE.",
      more: "In dotenv form: as a GitLab report it sets them as variables of later jobs.", names: .output),
    Flag(
      .trace, .value("FILE"), .output, [.put, .get],
      "Write a timeline of the run to FILE, for Perfetto or Chrome.",
      more: """
        In the Trace Event Format, which ui.perfetto.dev and chrome://tracing show: a track for each connection with its \
        parts, requests and failures, and tracks for waits, checksums and the phases of each object. It is written at the \
        end, even after a failure or a signal, and contains names and addresses, but no URLs, headers or secrets. A trace \
        has at most a million events, and says how many were left out.
        """, names: .output),
    Flag(
      .report, .value("FILE.html"), .output, [.put, .get], "Write a page that shows why the run took its time.",
      more: """
        One self-contained HTML file: a drawing of what --trace has, the rate over time, retries by their cause, the plan \
        and its reasons, and measurements of the line.
        """, names: .output),
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
