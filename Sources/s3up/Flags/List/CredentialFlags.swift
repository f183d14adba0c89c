extension FlagList {
  static let credentials: [Flag] = [
    Flag(
      .waitForCredentials, .value("DURATION"), .credentials, ModeSet.patient.intersection(.signed),
      "If credentials are refused or missing, wait this long for new ones from their source.",
      more: """
        A transfer keeps its state, and once a minute a message says that it is waiting; the last attempt is at the \
        end of DURATION, or of --deadline if that comes first. Profiles, tokens and services are read again; keys in \
        the environment cannot change while s3up runs. Without this option the run ends with exit code 77, and the \
        same command resumes a transfer.
        """),
    Flag(
      .githubRole, .value("ARN"), .credentials, .signed,
      "Role that a GitHub Actions job assumes with its own identity, before any other credentials.",
      more: """
        The job needs the permission id-token: write. A new token is requested whenever the role's credentials \
        expire. Without this option the role of AWS_ROLE_ARN is assumed, after the environment's keys and web \
        identity.
        """),
    Flag(
      .githubAudience, .value("NAME"), .credentials, .signed, "Audience of the token that is requested from GitHub.",
      standard: "sts.amazonaws.com"),
    Flag(
      .cognitoIdentityPool, .value("ID"), .credentials, .signed,
      "Use credentials of this Cognito identity pool, before any others: a guest's, or with --cognito-login a user's.",
      more: """
        A guest's identity is kept between runs, in the state folder. {identity} in a key is replaced by the identity.
        """),
    Flag(
      .cognitoLogin, .list("PROVIDER=FILE"), .credentials, .signed,
      "Identity provider of the pool, and the file with its token.",
      more: "The file is read again whenever credentials are needed.", names: .inputOfName),
    Flag(
      .access, .value("WHOSE"), .credentials, .signed,
      "Put the key under public/, protected/IDENTITY/ or private/IDENTITY/.",
      more: "The identity is that of --cognito-identity-pool.", choices: AccessChoice.words),
  ]
}
