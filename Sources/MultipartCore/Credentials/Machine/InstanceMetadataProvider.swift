import MultipartBasics

/// The role of this EC2 machine, from its metadata service. Each run asks again, which takes a few milliseconds,
/// instead of storing credentials on disk, where they could be stolen.
final class InstanceMetadataProvider: CredentialProvider {
  private let metadata: InstanceMetadata
  private let world: World

  /// Expired credentials that the service still returns are used for this long before it is asked again: the service
  /// could not renew them, but the store may still accept them.
  private static let graceSeconds: Int64 = 600

  init(metadata: InstanceMetadata, world: World) {
    self.metadata = metadata
    self.world = world
  }

  var place: String {
    let isDisabled = (try? metadata.settings().isDisabled) == true
    let why = isDisabled ? "not asked: AWS_EC2_METADATA_DISABLED" : metadata.refusal
    return "the instance metadata service" + (why.map { " (\($0))" } ?? "")
  }

  /// The credentials; nil on a machine without the service, or without a role. Each call asks the service, because the
  /// caller's credentials were refused or are about to expire.
  func credentials() async throws(Failure) -> Credentials? {
    guard try !metadata.settings().isDisabled, let role = try await metadata.role(),
      let found = try await metadata.credentials(of: role)
    else { return nil }
    return used(found)
  }

  private func used(_ found: Credentials) -> Credentials {
    let now = world.now()
    guard let end = found.expiration, end <= now else { return found }
    var extended = found
    // Up to five minutes at random, so that a fleet of machines does not ask again at the same moment.
    extended.expiration = Timestamp(seconds: now.seconds + Self.graceSeconds + Int64(world.random() * 300))
    world.log(
      1,
      "the instance's credentials expired at \(end.iso8601), but their service has no newer ones: they are still used, and "
        + "requested again by \(extended.expiration?.iso8601 ?? "then")")
    return extended
  }
}
