/// All that a store tells about an object.
public struct ObjectDescription: Sendable {
  /// Until when the object can be neither replaced nor deleted.
  public struct Retention: Sendable, Equatable {
    /// `GOVERNANCE` or `COMPLIANCE`.
    public var mode: String
    /// As the store writes it.
    public var until: String?
  }

  /// What it takes a request of its own to know, or a permission.
  public enum Property: String, Sendable, CaseIterable {
    case parts, tags, retention
    case legalHold = "legal-hold"
  }

  /// What a HEAD shows.
  public var object: ObjectInfo
  /// How many parts it was made of.
  public var parts: Int?
  /// The size of the first part: as a rule all have it but the last.
  public var partSize: Int64?
  /// Nil if they are not known.
  public var tags: [NamedValue]?
  /// Nil if there is none, or if it is not known.
  public var retention: Retention?
  /// `ON` or `OFF`; nil if there is none, or if it is not known.
  public var legalHold: String?
  /// What the store does not tell, and why.
  public var unknown: [Property: String] = [:]
}

extension Store {
  /// Asks for all that the store tells about an object, which takes a few small requests. What it refuses to tell is
  /// `unknown`; if it does not show the object at all, that is a failure.
  ///
  ///     let disk = try await store.describe("images/disk.img")
  ///     print(disk.object.size, disk.tags, disk.unknown)
  public func describe(
    _ key: String, versionID: String? = nil, customerKey: CustomerKey? = nil
  ) async throws(Failure) -> ObjectDescription {
    try checkKey(customerKey)
    return try await Inquiry(self, HeadObject(address(key, customerKey: customerKey), versionID: versionID)).run()
  }
}
