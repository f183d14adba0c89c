import MultipartCore

/// The topics that `s3up help` explains besides commands.
enum HelpTopic: String, Sendable, CaseIterable {
  case exitCodes = "exit-codes"
  case environment, filters, tickets, values

  var summary: String {
    switch self {
    case .exitCodes: "what each exit code means"
    case .environment: "the variables that s3up reads"
    case .filters: "which files of a folder are uploaded"
    case .tickets: "uploads from machines without credentials"
    case .values: "how sizes, rates, durations and dates are written"
    }
  }

  var about: [String] {
    switch self {
    case .exitCodes: ["The exit code tells a script whether running the same command again can help: after 75 it can."]
    case .environment:
      [
        """
        Each option can also be set in the environment, by the variable shown with it: --part-size by S3UP_PART_SIZE. \
        The command line takes precedence. A switch is set to 1, true or yes, or to 0, false or no; an option that \
        may be repeated to one value per line. An empty variable is treated as unset.
        """
      ]
    case .filters:
      [
        "With -r every file of the folder is uploaded unless a rule excludes it; --dry-run names what it excludes."
      ]
    case .tickets:
      [
        """
        On a machine with credentials, s3up ticket issue begins an upload and writes a ticket: a file of presigned \
        requests. Anyone with the ticket can upload that one object with s3up put --ticket, from any machine, and can \
        do nothing else at the store. s3up ticket show reports what has arrived, renew makes an expired ticket valid \
        again, and revoke ends it.
        """
      ]
    case .values: [SizeValue.form, RateValue.form, DurationValue.form, DateValue.form, S3URL.form]
    }
  }

  var items: [CommandPage.Item] {
    switch self {
    case .exitCodes: ExitStatus.table.map { .init(term: $0.codes, doc: $0.meaning) }
    case .environment:
      FlagList.all.filter { !$0.aws.isEmpty && $0.modes.contains(.putOne) }.map {
        .init(
          term: $0.aws.map(\.name).joined(separator: ", "),
          doc: "Like \($0.long), which takes precedence, as does \($0.name.variable).")
      } + Self.variables.map { .init(term: $0.names, doc: $0.doc) }
    case .filters, .tickets, .values: []
    }
  }

  /// The options that the topic is about.
  var flags: [Flag] {
    switch self {
    case .filters:
      ([.include, .exclude, .attributes, .followSymlinks, .filesFrom, .allowEmpty] as [FlagName]).compactMap {
        FlagList.find($0, for: .put)
      }
    case .tickets: FlagList.find(.shard, for: .put).map { FlagList.ticket + [$0] } ?? []
    case .exitCodes, .environment, .values: []
    }
  }

  var examples: [CommandPage.Example] {
    let all = [CommandName.put, .ticket].flatMap { CommandPage.of($0).examples }
    return switch self {
    case .filters: all.filter { $0.line.holds("--exclude") || $0.line.holds("--include") }
    case .tickets: all.filter { $0.line.holds("ticket") }
    case .exitCodes, .environment, .values: []
    }
  }

  /// Variables that belong to no option.
  static let variables: [(names: String, doc: String)] = [
    ("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN", "Credentials, before any profile's."),
    ("AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE", "The shared AWS files, if they are not in ~/.aws."),
    (
      "AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_SESSION_NAME",
      "A role that is assumed with a token in a file."
    ),
    (
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, AWS_CONTAINER_CREDENTIALS_FULL_URI",
      "Where a container gets its credentials."
    ),
    ("AWS_EC2_METADATA_DISABLED", "true: do not ask the machine's metadata service for credentials."),
    ("HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", "Proxies, if --proxy is not given."),
    ("SSL_CERT_FILE, SSL_CERT_DIR", "Certificates to trust, if there is no --ca-bundle."),
    ("XDG_STATE_HOME", "Where the state folder is, if there is no --state-dir."),
    ("S3UP_NOTIFY_SECRET", "The secret that signs notifications, if it is not in a file."),
    ("CI, GITHUB_ACTIONS, GITLAB_CI", "A CI job: progress is a line every 30 s, and the runner gets what it can show."),
    ("NO_COLOR", "If it is set, --color auto means never."),
    ("TERM, TERM_PROGRAM, VTE_VERSION, WT_SESSION, ConEmuANSI", "What the terminal can show, for the bar and --title."),
    ("PAGER", "The program that shows help longer than the terminal."),
  ]
}
