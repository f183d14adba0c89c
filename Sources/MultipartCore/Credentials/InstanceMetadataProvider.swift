/// The role of the EC2 machine that this runs on, by its metadata service. Asked anew by each run: three answers take
/// some milliseconds, and credentials that lie on a disk are worth stealing.
package final class InstanceMetadataProvider: CredentialProvider {
  private let metadata: InstanceMetadata
  private let world: World

  /// Ended credentials that are still served are used for so long before the service is asked again: it could not
  /// renew them, but the store may well still take them.
  private static let graceSeconds: Int64 = 600

  package init(metadata: InstanceMetadata, world: World) {
    self.metadata = metadata
    self.world = world
  }

  package var place: String { "the instance metadata service" }

  /// Nil on a machine that has no such service, or no role. Whoever asks again was refused with what it got, or sees its
  /// end, and gets what the service has now.
  package func credentials() async throws(Failure) -> Credentials? {
    guard try !metadata.settings().isDisabled, let role = try await metadata.role(),
      let found = try await metadata.credentials(of: role)
    else { return nil }
    return used(found)
  }

  private func used(_ found: Credentials) -> Credentials {
    let now = world.now()
    guard let end = found.expiration, end <= now else { return found }
    var extended = found
    // Up to five minutes of dice, so that a fleet does not come back as one.
    extended.expiration = Timestamp(seconds: now.seconds + Self.graceSeconds + Int64(world.random() * 300))
    world.log(
      1,
      "the instance's credentials ended at \(end.iso8601), but their service has no newer ones: used on, "
        + "asked for again by \(extended.expiration?.iso8601 ?? "then")")
    return extended
  }
}
