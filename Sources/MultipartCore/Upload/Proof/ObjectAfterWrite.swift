/// What is at the key after a write of this run.
enum ObjectAfterWrite: Sendable {
  case absent
  /// `isNewest`: it is what the key alone names; otherwise only its version does.
  case object(ObjectInfo, isNewest: Bool)
  /// Another client has written to the key since, and the version that this run has written is not shown.
  case replaced

  /// Asks for the object by a HEAD, and once more by its version if another one has become the newest. Throws transient
  /// failures.
  static func look(_ made: ReportedObject, _ address: ObjectAddress, _ client: S3Client) async throws(Failure) -> Self {
    guard case .exists(let newest) = try await client.perform(HeadObject(address)) else { return .absent }
    guard let own = made.versionID, ObjectIdentity.areDifferentVersions(own, newest.versionID) else {
      return .object(newest, isNewest: true)
    }
    do throws(Failure) {
      guard case .exists(let object) = try await client.perform(HeadObject(address, versionID: own)) else {
        return .replaced
      }
      return .object(object, isNewest: false)
    } catch {
      // Without a status: the store has returned another version.
      guard error.status != nil || error.code == .refused, !RetryPolicy.isWorthRetrying(error.code) else { throw error }
      return .replaced
    }
  }
}
