extension FlagList {
  static let credentials: [Flag] = [
    Flag(
      .waitForCredentials, .value("DURATION"), .credentials, .patient,
      "When credentials are refused or missing, wait so long for their source to have new ones.",
      more: """
        The upload holds its place, and says once a minute that it waits; the last look is at the end of DURATION, or at \
        that of --deadline if it comes first. Profiles, tokens and services are read anew; keys \
        in the environment cannot change while s3up runs. Without this option the run ends with 77, and the same \
        command resumes the upload.
        """),
    Flag(
      .githubRole, .value("ARN"), .credentials, .store,
      "Role that a job of GitHub Actions takes on by its own identity, before any other credentials.",
      more: """
        The job needs the permission id-token: write. A new token is asked for whenever the role's credentials end. \
        Without this option the role of AWS_ROLE_ARN is taken on, behind the keys and the web identity of the environment.
        """),
    Flag(
      .githubAudience, .value("NAME"), .credentials, .store, "Audience of the token that GitHub is asked for.",
      standard: "sts.amazonaws.com"),
    Flag(
      .cognitoIdentityPool, .value("ID"), .credentials, .store,
      "Take the credentials of this Cognito identity pool, before any others: a guest's, or by --cognito-login.",
      more: """
        A guest keeps his identity between runs, in the state folder. {identity} in a key stands for the identity.
        """),
    Flag(
      .cognitoLogin, .list("PROVIDER=FILE"), .credentials, .store,
      "Identity provider of the pool, and the file that holds its token.",
      more: "The file is read anew whenever credentials are asked for."),
    Flag(
      .access, .value("WHOSE"), .credentials, .store,
      "Put the key under public/, protected/IDENTITY/ or private/IDENTITY/.",
      more: "The identity is the one that the pool of --cognito-identity-pool gives.", choices: AccessChoice.words),
  ]
}
