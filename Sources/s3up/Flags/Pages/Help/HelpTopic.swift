import MultipartBasics
import MultipartCore

/// The topics that `s3up help` explains besides commands.
enum HelpTopic: String, Sendable, CaseIterable {
  case exitCodes = "exit-codes"
  case environment, filters, tickets, credentials, cron, values

  var summary: String {
    switch self {
    case .exitCodes: "what each exit code means"
    case .environment: "the variables that s3up reads"
    case .credentials: "where credentials come from, in which order, and what happens when they expire"
    case .filters: "which files of a folder are uploaded"
    case .tickets: "uploads from machines without credentials"
    case .cron: "runs that nobody watches: cron, timers, CI jobs"
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
    case .credentials:
      [
        """
        s3up uses the credentials that the AWS CLI would use. For a store that is not AWS the keys that it gave you are \
        enough, in two variables: export AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... No option takes a key, because \
        other users of this machine can see arguments.
        """,
        """
        The first of these that has credentials is used: the variables; the profile (--profile, else AWS_PROFILE, else \
        default) in ~/.aws/config and ~/.aws/credentials; the container's role; the role of the EC2 machine. In a \
        profile a role that it assumes comes first, then a web identity, a login (aws sso login), keys, and \
        credential_process. With --profile the variables are skipped. If what was found is unusable, the run fails: \
        nothing else is tried, so that no other identity is used by accident.
        """,
        """
        Instead of these: --github-role in a GitHub Actions job, --cognito-identity-pool for users of an app, \
        --no-sign-request for public buckets, and put --ticket on machines without credentials.
        """,
        """
        Keys that were made for a user do not expire. Those of roles and logins do, often after an hour: s3up reads the \
        source again in time, and a longer run needs nothing else if the source renews them. If it does not, the exit \
        code is 77, and after a new login the same command resumes; --wait-for-credentials waits for it instead. s3up \
        doctor shows which credentials are used, from where, and until when.
        """,
      ]
    case .filters:
      [
        "With -r every file of the folder is uploaded unless a rule excludes it; --dry-run also lists the excluded ones."
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
    case .cron:
      [
        """
        Every run: -q prints errors only, so that cron sends mail only then; --deadline ends put, get and verify in \
        time, with exit code 75; after 75 the same command resumes an upload or a download. Two runs never disturb each other: the second ends with 75, or \
        waits with --wait-lock. cron sets HOME, so ~/.aws is read as usual. --notify posts the outcome to a URL.
        """,
        """
        A CI job: where CI is set, progress is a line every 30 s. A fresh runner has no record of an interrupted upload: \
        --resume adopt finds it at the store. --skip-same sends only what an earlier try did not, --if-none-match never \
        replaces an artifact, and --json is for the steps that follow. --github-role needs no keys.
        """,
      ]
    case .values:
      [SizeValue.form, RateValue.form, DurationValue.form, DateValue.form, "An object is written " + S3URL.written]
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
      } + Self.variables
    case .credentials, .filters, .tickets, .cron, .values: []
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
    case .credentials:
      FlagList.credentials + FlagList.connection.filter { [.profile, .noSignRequest].contains($0.name) }
    case .cron:
      ([.quiet, .deadline, .waitLock, .resume, .skipSame, .notify] as [FlagName]).compactMap {
        FlagList.find($0, for: .put)
      }
    case .exitCodes, .environment, .values: []
    }
  }

  var examples: [CommandPage.Example] {
    let all = [CommandName.put, .ticket].flatMap { CommandPage.of($0).examples }
    return switch self {
    case .filters: all.filter { $0.line.holds("--exclude") || $0.line.holds("--include") }
    case .tickets: all.filter { $0.line.holds("ticket") }
    case .cron: all.filter { $0.line.holds("--manifest") }
    case .exitCodes, .environment, .credentials, .values: []
    }
  }

  /// Variables that belong to no option.
  static let variables: [CommandPage.Item] =
    ([
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
      (
        JobRunner.marks.joined(separator: ", "),
        "A CI job: progress is a line every 30 s. GitHub's and GitLab's runners also get groups, annotations and results."
      ),
      ("NO_COLOR", "If it is set, --color auto means never."),
      (
        "TERM, TERM_PROGRAM, VTE_VERSION, WT_SESSION, ConEmuANSI",
        "What the terminal can show, for the bar and --title."
      ),
      ("PAGER", "The program that shows help longer than the terminal, else less or more; empty or cat: none."),
    ] as [(String, String)]).map { CommandPage.Item(term: $0.0, doc: $0.1) }
}
