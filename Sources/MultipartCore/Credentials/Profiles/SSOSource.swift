import MultipartBasics

/// The keys of a role after a login to IAM Identity Center (`sso_account_id`, `sso_role_name`): the login of an
/// `sso_session`, which is renewed as long as that needs no person, or of an older `sso_start_url`, which cannot be
/// renewed.
struct SSOSource: ProfileSource {
  /// A token is renewed this many seconds before it expires, as by the AWS CLI.
  private static let renewedAhead: Int64 = 15 * 60

  /// The settings of the profile and its session.
  private struct Settings {
    var account: String
    var role: String
    var startURL: String
    var region: String
    var session: String?
  }

  func credentials(of view: ProfileView) async throws(Failure) -> Credentials? {
    guard view["sso_account_id"] != nil || view["sso_role_name"] != nil else { return nil }
    let settings = try Self.settings(view)
    let login = Self.login(settings, view)
    guard
      let place = try SSOToken.Place(
        key: settings.session ?? settings.startURL, environment: view.context.environment)
    else {
      throw Failure(
        .credentials, "profile \(view.name) needs a login, which is looked for in HOME, and HOME is not set")
    }
    guard let cached = try SSOToken.read(place) else {
      throw Failure(
        .credentials, "profile \(view.name) needs a login, and there is none in \(place.shown)", remedy: login
      ).ofFile
    }
    let client = SSOClient(
      services: view.context.services, portal: try view.addresses.address(of: .sso, region: settings.region),
      oidc: try view.addresses.address(of: .ssoOIDC, region: settings.region))
    let token = try await Self.current(cached, settings, client, place, view, login)
    do throws(Failure) {
      return try await client.credentials(
        account: settings.account, role: settings.role, token: token.accessToken,
        source: "SSO role \(settings.role) of \(settings.account) from profile \(view.name)")
    } catch {
      var failure = error
      if failure.status == 401 {
        failure.code = .credentialsExpired
        failure.remedy = login
      } else if failure.status == 403 || failure.status == 404 {
        failure.remedy = "request the role in this account, or fix sso_account_id and sso_role_name"
      }
      throw failure
    }
  }

  /// The command that the user has to run.
  private static func login(_ settings: Settings, _ view: ProfileView) -> Wording {
    if let session = settings.session { return "log in: aws sso login --sso-session \(ShellWord.quoted(session))" }
    return "log in: aws sso login --profile \(ShellWord.quoted(view.name))"
  }

  private static func settings(_ view: ProfileView) throws(Failure) -> Settings {
    let session = view["sso_session"]
    let section = session.flatMap { view.config.section("sso-session", $0) }
    if let session, section == nil {
      throw view.misconfigured(
        "uses the sso-session \"\(session)\", which does not exist",
        remedy: "write [sso-session \(session)] into \(view.config.configPath): aws configure sso-session")
    }
    for name in ["sso_start_url", "sso_region"] {
      if let own = view[name], let shared = section?[name], !own.utf8.elementsEqual(shared.utf8) {
        throw view.misconfigured("has a different \(name) than its sso-session")
      }
    }
    func setting(_ name: String) throws(Failure) -> String {
      guard let text = section?[name] ?? view[name] else { throw view.misconfigured("uses SSO, but has no \(name)") }
      return text
    }
    return Settings(
      account: try setting("sso_account_id"), role: try setting("sso_role_name"),
      startURL: try setting("sso_start_url"), region: try setting("sso_region"), session: session)
  }

  /// The valid token: that of the file, renewed if it is about to expire and can be renewed.
  private static func current(
    _ cached: SSOToken, _ settings: Settings, _ client: SSOClient, _ place: SSOToken.Place, _ view: ProfileView,
    _ login: Wording
  ) async throws(Failure) -> SSOToken {
    let world = view.context.services.world
    let now = world.now()
    var refused: Failure?
    if settings.session != nil, cached.expiration.seconds - now.seconds < renewedAhead,
      let renewal = cached.renewal(at: now)
    {
      do throws(Failure) {
        return try await renew(cached, renewal, client, place, world)
      } catch {
        refused = error
        world.log(1, "the login of profile \(view.name) could not be renewed: \(error.message)")
        // Another process may have used the refresh token and stored the new one.
        if let other = try SSOToken.read(place), other.expiration > max(now, cached.expiration) { return other }
      }
    }
    if cached.expiration > now { return cached }
    // Without an answer the login was not refused: it may still be renewed later.
    if let refused, refused.code != .credentials { throw refused }
    throw Failure(
      .credentialsExpired,
      "the login of profile \(view.name) expired at \(cached.expiration.iso8601)"
        + (refused == nil ? "" : ", and cannot be renewed"),
      s3Code: refused?.s3Code, requestID: refused?.requestID, remedy: login)
  }

  private static func renew(
    _ cached: SSOToken, _ renewal: SSOToken.Renewal, _ client: SSOClient, _ place: SSOToken.Place, _ world: World
  ) async throws(Failure) -> SSOToken {
    let renewed = try await client.renew(cached, renewal)
    do throws(Failure) {
      try renewed.write(place)
    } catch {
      // This run has its token, but the next one will need a login.
      world.log(1, "the renewed login could not be stored in \(place.shown): \(error.message)")
    }
    return renewed
  }
}
