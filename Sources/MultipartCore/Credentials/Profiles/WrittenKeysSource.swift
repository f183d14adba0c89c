import MultipartBasics

/// The keys in a profile. All three are taken from one file, so that a token left in the other file is never used with
/// keys that it does not belong to.
struct WrittenKeysSource: ProfileSource {
  enum File: Sendable { case credentials, config }

  let file: File

  private static let names = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"]

  func credentials(of view: ProfileView) async throws(Failure) -> Credentials? {
    let (section, path) =
      switch file {
      case .credentials: (view.profile?.credentials, view.config.credentialsPath)
      case .config: (view.profile?.config, view.config.configPath)
      }
    let place = "profile \(view.name) in \(path)"
    if let name = Self.names.first(where: { section?["export " + $0] != nil && section?[$0] == nil }) {
      throw Failure(
        .credentials, "\(place): export stands before \(name), as in a shell",
        remedy: "leave export out: \(name) = …, without quotes")
    }
    // The oldest tools call it `aws_security_token`.
    let token = section?[Self.names[2]] ?? section?["aws_security_token"]
    do throws(Failure) {
      return try WrittenKeys.credentials(
        id: section?[Self.names[0]], secret: section?[Self.names[1]], token: token, names: Self.names, place: place,
        source: place)
    } catch {
      throw error.ofFile
    }
  }
}

/// A login of the AWS console (`aws login`), which has its own protocol for keys; s3up does not support it.
struct LoginSource: ProfileSource {
  func credentials(of view: ProfileView) async throws(Failure) -> Credentials? {
    guard view["login_session"] != nil else { return nil }
    let profile = ShellWord.quoted(view.name)
    throw Failure(
      .credentials, "profile \(view.name) gets its credentials by login_session, which is not supported",
      remedy:
        "put them into the environment: eval \"$(aws configure export-credentials --profile \(profile) --format env)\"")
  }
}
