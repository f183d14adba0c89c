/// The role of the EC2 machine that this runs on, by its metadata service. Kept between runs, so that a job which runs
/// every minute does not ask every minute.
package final class InstanceMetadataProvider: CredentialProvider {
  private let metadata: InstanceMetadata
  private let world: World
  private let cache: InstanceCredentialFile?
  private let wasAsked = Locked(false)

  /// Ended credentials that are still served are used for so long before the service is asked again: it could not
  /// renew them, but the store may well still take them.
  private static let graceSeconds: Int64 = 600

  /// `stateFolder`: where the file between runs is; nil keeps nothing.
  package init(metadata: InstanceMetadata, world: World, stateFolder: String?) {
    self.metadata = metadata
    self.world = world
    cache = stateFolder.map { InstanceCredentialFile(folder: $0) }
  }

  package var place: String { "the instance metadata service" }

  /// Nil on a machine that has no such service, or no role. The first time what another run has kept will do; whoever
  /// asks again was refused with that, or sees its end, and gets what the service has now.
  package func credentials() async throws(Failure) -> Credentials? {
    let settings = try metadata.settings()
    guard !settings.isDisabled else { return nil }
    let address = "\(settings.origin)\(settings.basePath)"
    let isFirst = wasAsked.withLock { asked in
      defer { asked = true }
      return !asked
    }
    if isFirst, let kept = cache?.read(address: address, now: world.now()) {
      world.log(1, "\(kept.source): kept by an earlier run, until \(kept.expiration?.iso8601 ?? "further notice")")
      return kept
    }
    guard let role = try await metadata.role(), let found = try await metadata.credentials(of: role) else {
      return nil
    }
    return used(found, address: address)
  }

  private func used(_ found: Credentials, address: String) -> Credentials {
    let now = world.now()
    guard let end = found.expiration, end <= now else {
      do throws(Failure) {
        try cache?.write(found, address: address, now: now)
      } catch {
        world.log(1, "the instance's credentials are not kept for other runs: \(error.message)")
      }
      return found
    }
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
