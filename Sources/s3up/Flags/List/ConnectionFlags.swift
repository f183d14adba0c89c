import MultipartCore

extension FlagList {
  static let connection: [Flag] = [
    Flag(
      .endpointURL, .value("URL"), .connection, .store, "The store's address, for any store but AWS.",
      more: """
        Without the bucket, which s3://BUCKET/KEY names. Under the variables stand the services section and the endpoint_url of the profile. \
        AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true leaves only the option and S3UP_ENDPOINT_URL.
        """,
      aws: [FlagVariable("AWS_ENDPOINT_URL_S3"), FlagVariable("AWS_ENDPOINT_URL")]),
    Flag(
      .region, .value("REGION"), .connection, .store, "Region of the bucket.",
      more: """
        Where nothing says it, AWS is asked where the bucket is. A bucket that turns out to be in another region is \
        followed there, once in a run, and a line says so.
        """, standard: "the profile's, else the bucket's own; us-east-1 for other stores",
      aws: [FlagVariable("AWS_REGION"), FlagVariable("AWS_DEFAULT_REGION")]),
    Flag(
      .profile, .value("NAME"), .connection, .store, "Profile of the shared AWS files.", standard: "default",
      aws: [FlagVariable("AWS_PROFILE")]),
    Flag(
      .addressing, .value("STYLE"), .connection, .store,
      "Where the bucket's name stands: virtual (in the host name), path, or auto.",
      more: """
        A bucket that an ARN names, and a directory bucket of S3 Express, stand in the host name always. On AWS path also \
        lets names pass that only buckets from before 2018 have, and at an endpoint URL one that seems to name the bucket.
        """,
      standard: "auto",
      choices: Addressing.words),
    Flag(
      .accelerate, .toggle, .connection, .store, "Use S3 Transfer Acceleration, which the bucket must allow.",
      negatable: true),
    Flag(
      .dualstack, .toggle, .connection, .store, "Use AWS's endpoints that have IPv6 addresses too.",
      aws: [FlagVariable("AWS_USE_DUALSTACK_ENDPOINT")], negatable: true),
    Flag(
      .fips, .toggle, .connection, .store, "Use AWS's endpoints with FIPS 140 validated cryptography.",
      aws: [FlagVariable("AWS_USE_FIPS_ENDPOINT")], negatable: true),
    Flag(
      .caBundle, .value("FILE"), .connection, .store, "Certificates to trust instead of the system's (PEM).",
      aws: [FlagVariable("AWS_CA_BUNDLE")], completes: .files),
    Flag(
      .insecure, .toggle, .connection, .store, "Do not verify the server's certificate.",
      more: "Whoever sits in between can then read and change everything.", negatable: true),
    Flag(
      .proxy, .value("URL"), .connection, .store, "Proxy to go through.",
      more: "A proxy with a password is better given in S3UP_PROXY, since others on this machine can see arguments.",
      standard: "HTTPS_PROXY, HTTP_PROXY, NO_PROXY"),
    Flag(
      .requestPayer, .toggle, .connection, .store, "Accept to pay for the requests to a requester-pays bucket.",
      negatable: true),
    Flag(
      .expectedBucketOwner, .value("ID"), .connection, .store, "Fail unless the bucket belongs to this account."),
    Flag(.noSignRequest, .toggle, .connection, .store, "Send requests without credentials."),
  ]

  static let state: [Flag] = [
    Flag(
      .stateDir, .value("DIR"), .state, .store,
      "Where s3up keeps the records of unfinished uploads, and what it learned about stores and identity.",
      more: """
        It is made for this user alone where it is not there; the mode of one that is there is not changed. In a folder \
        that other users can write, s3up keeps all in a folder of its own, and it believes no file that another user \
        owns or can write.
        """,
      standard: "$XDG_STATE_HOME/s3up, else ~/.local/state/s3up", completes: .directories)
  ]

  static let output: [Flag] = [
    Flag(
      .progress, .value("HOW"), .output, [.put, .part], "Progress on standard error: auto, bar, plain or none.",
      more: "With auto there is a bar on a terminal and nothing elsewhere; plain is one line every 10 s.",
      standard: "auto", choices: ProgressChoice.words),
    Flag(
      .explain, .toggle, .output, [.put],
      "Print the plan: part size, parts, concurrency, addressing, checksum, credentials, and why."),
    Flag(
      .json, .optional("all"), .output, .store, "JSON on standard output, one object a line; all: every event.",
      choices: ["all"]),
    Flag(.quiet, short: "q", .toggle, .output, .store, "Print errors only."),
    Flag(
      .verbose, short: "v", .count, .output, .store, "Say more; -vv shows the requests, secrets never.",
      more: "In the environment the value is the level: 0, 1 or 2."),
    Flag(
      .color, .value("WHEN"), .output, .all, "Color: auto, always or never.",
      more: "NO_COLOR, when set, means never for auto.", standard: "auto", choices: ColorChoice.words),
    Flag(
      .man, .toggle, .output, [.help], "Print the manual page s3up.1 (roff).", hasVariable: false),
    Flag(.help, short: "h", .toggle, .output, .all, "Show help.", hasVariable: false),
    Flag(.version, .toggle, .output, .all, "Show the version.", hasVariable: false),
  ]
}
