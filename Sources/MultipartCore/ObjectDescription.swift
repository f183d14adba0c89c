/// Everything that a store reveals about an object.
public struct ObjectDescription: Sendable {
  /// The period during which the object can be neither replaced nor deleted.
  public struct Retention: Sendable, Equatable {
    /// `GOVERNANCE` or `COMPLIANCE`.
    public var mode: String
    /// The end of the period, as the store writes it.
    public var until: String?
  }

  /// A property that takes its own request, or its own permission, to read.
  public enum Property: String, Sendable, CaseIterable {
    case parts, tags, retention
    case legalHold = "legal-hold"
  }

  /// The properties that a HEAD request returns.
  public var object: ObjectInfo
  /// How many parts it was made of.
  public var parts: Int?
  /// The size of the first part; as a rule all parts but the last have this size.
  public var partSize: Int64?
  /// The object's tags; nil if they are not known.
  public var tags: [NamedValue]?
  /// The object's retention; nil if there is none, or if it is not known.
  public var retention: Retention?
  /// `ON` or `OFF`; nil if there is none, or if it is not known.
  public var legalHold: String?
  /// The properties that the store does not reveal, and why.
  public var unknown: [Property: String] = [:]
}

extension Store {
  /// Asks for everything that the store reveals about an object, which takes a few small requests. Properties that it
  /// refuses to reveal are listed in `unknown`; if it does not show the object at all, that is a failure.
  ///
  ///     let disk = try await store.describe("images/disk.img")
  ///     print(disk.object.size ?? 0, disk.tags, disk.unknown)
  public func describe(
    _ key: String, versionID: String? = nil, customerKey: CustomerKey? = nil
  ) async throws(Failure) -> ObjectDescription {
    try checkKey(customerKey)
    return try await Inquiry(self, HeadObject(address(key, customerKey: customerKey), versionID: versionID)).run()
  }
}
