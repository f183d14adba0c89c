import MultipartBasics

/// An identity from a Cognito identity pool: a guest, or a user signed in with one of the pool's identity providers. Its
/// credentials sign the requests of every store that uses it, and ``id()`` is the key prefix that belongs to it:
///
///     var options = StoreOptions(region: "eu-west-1")
///     let guest = try CognitoIdentity(pool: "eu-west-1:12345678-1234-1234-1234-123456789012", options)
///     options.credentials = .cognito(guest)
///     let store = try await Store(bucket: "photos", options)
///     try await store.upload(.file("cat.jpg"), to: "private/\(guest.id())/cat.jpg")
public final class CognitoIdentity: CredentialProvider {
  private let client: CognitoIdentityClient
  private let pool: CognitoPool
  /// The file with the token of each identity provider.
  private let logins: [String: String]
  private let guests: CognitoGuestFile?
  /// The search that all concurrent callers share: two requests would create two guests.
  private let search = Locked<Task<Result<String, Failure>, Never>?>(nil)

  /// `logins` is a file for each identity provider that the user has signed in with, such as `accounts.google.com`. The
  /// file contains only the provider's token; it is read each time, so that another program can renew the token.
  /// Without logins the identity is a guest's, which is stored in the state folder of `options`, so that a later run is
  /// the same guest. `options` also say how to reach Cognito: its proxy, the certificates to trust.
  public convenience init(
    pool: String, logins: [String: String] = [:], _ options: StoreOptions = StoreOptions()
  ) throws(Failure) {
    guard let pool = CognitoPool(pool) else {
      throw Failure(
        .usage, "\"\(SafeText.oneLine(pool))\" is not the id of an identity pool",
        remedy: "give it as the console shows it, as REGION:NUMBER")
    }
    let world = options.openWorld()
    var options = try options.filled(from: world.environment)
    // That the store is not verified says nothing about this service.
    options.verifiesTLS = true
    let addresses = try ProfileSettings(options, world.environment).serviceAddresses()
    self.init(
      pool: pool, logins: logins,
      services: ServiceClient(
        transport: try options.transport(TransferSettings(options), world), world: world),
      address: try addresses.address(of: .cognitoIdentity, region: pool.region),
      stateFolder: options.stateFolder(world.environment))
  }

  /// Without `stateFolder` a guest's identity lasts as long as this object.
  init(
    pool: CognitoPool, logins: [String: String] = [:], services: ServiceClient, address: ServiceAddress,
    stateFolder: String?
  ) {
    client = CognitoIdentityClient(services: services, address: address)
    self.pool = pool
    self.logins = logins
    guests = logins.isEmpty ? stateFolder.map { CognitoGuestFile(folder: $0) } : nil
  }

  var place: String { "the Cognito identity pool \(pool.id)" }

  func credentials() async throws(Failure) -> Credentials? {
    let id = try await id()
    let source = "identity \(id) of the Cognito pool \(pool.id)" + (logins.isEmpty ? ", as guest" : "")
    do throws(Failure) {
      return try await client.credentials(of: id, logins: try tokens(), source: source)
    } catch {
      guard error.s3Code == "ResourceNotFoundException", let guests else { throw error }
      // The pool has deleted the guest. A new identity has a different prefix, so this run ends; the next one is a new
      // guest.
      guests.forget(pool: pool, origin: client.origin)
      var failure = error
      failure.remedy = "the guest no longer exists: run the same command again as a new guest"
      throw failure
    }
  }

  /// The identity's id, such as `eu-west-1:12345678-1234-1234-1234-123456789012`, which policies know as
  /// `${cognito-identity.amazonaws.com:sub}`. It is the one that an earlier run stored; otherwise Cognito is asked
  /// once. A failure is not cached.
  public func id() async throws(Failure) -> String {
    let task = search.withLock { search in
      if let search { return search }
      let begun = Task { [self] in await find() }
      search = begun
      return begun
    }
    do {
      return try await task.value.get()
    } catch {
      // Another search may have begun since.
      search.withLock { if $0 == task { $0 = nil } }
      throw error
    }
  }

  private func find() async -> Result<String, Failure> {
    do throws(Failure) {
      let world = client.world
      if let known = guests?.identity(pool: pool, origin: client.origin) { return .success(known) }
      if let refusal = guests?.refusal {
        world.log(
          0,
          "the stored identity of the guest is not used: \(refusal.place.file ?? ""): \(refusal.message); "
            + (refusal.remedy ?? ""))
      }
      let made = try await client.identity(in: pool, logins: try tokens())
      guard let guests else { return .success(made) }
      // Another run may have created a guest at the same time: both continue with the one that was stored first.
      if let known = guests.identity(pool: pool, origin: client.origin) { return .success(known) }
      do throws(Failure) {
        try guests.remember(made, pool: pool, origin: client.origin)
      } catch {
        world.log(
          1, "the guest's identity could not be stored, so the next run will be a different guest: \(error.message)")
      }
      return .success(made)
    } catch {
      return .failure(error)
    }
  }

  /// Reads the tokens each time: a program that renews a token replaces its file.
  private func tokens() throws(Failure) -> [(provider: String, token: Secret)] {
    var tokens: [(provider: String, token: Secret)] = []
    for (provider, file) in logins.sorted(by: { $0.key < $1.key }) {
      let bytes: [UInt8]
      do throws(Failure) {
        bytes = try FilePath(file).contents(limit: 64 << 10)
      } catch {
        var failure = error
        failure.code = .credentials
        failure.message = "the token of \(provider): \(error.message)"
        throw failure.ofFile
      }
      let text = ASCII.trimmed(String(decoding: bytes, as: UTF8.self))
      guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isVisible) else {
        throw Failure(
          .credentials, "the token of \(provider) is empty, or contains a space or a line break",
          remedy: "write only the token into \(file)"
        ).ofFile
      }
      tokens.append((provider, Secret(text)))
    }
    return tokens
  }
}

extension CognitoIdentity {
  /// Whether the text has the form of a pool's id, such as `eu-west-1:12345678-1234-1234-1234-123456789012`.
  public static func isPool(_ text: String) -> Bool { CognitoPool(text) != nil }
}

/// A pool's id, such as `eu-west-1:12345678-1234-1234-1234-123456789012`.
struct CognitoPool: Sendable, Equatable {
  let id: String
  let region: String

  init?(_ text: String) {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isIdentity(text) else { return nil }
    id = text
    region = String(text[..<colon])
  }

  /// Whether the text is a region, a colon and a UUID: the form of pool and identity ids. It contains nothing that is
  /// special in a key.
  static func isIdentity(_ text: String) -> Bool {
    let sides = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard sides.count == 2, text.utf8.count <= 100, BucketName.isLabel(String(Substring(sides[0]))) else {
      return false
    }
    return !sides[1].isEmpty && sides[1].allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
  }
}
