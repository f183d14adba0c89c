/// One object of a batch: where its bytes come from, and where they go.
public struct UploadItem: Sendable {
  /// Where its bytes come from.
  public var input: UploadInput
  /// The object's key.
  public var key: String
  /// Another bucket of the same store, accessed with the same credentials; nil: the store's own bucket.
  public var bucket: String?
  /// The region of that bucket.
  public var region: String?
  /// The content type, which overrides that of the options.
  public var contentType: String?
  /// The metadata, which overrides that of the options.
  public var metadata: [NamedValue]?

  /// Attributes that override the options of the same name; the batch's own line overrides both.
  var attributes: [ObjectAttribute] = []
  /// The item's name in the list of files that named it.
  var name: [UInt8]?
  /// The ticket that uploads the item.
  var ticket: Ticket?

  /// An object in the store's own bucket.
  public init(_ input: UploadInput, to key: String) {
    self.input = input
    self.key = key
  }
}

extension UploadOptions {
  /// The options for one object of a batch.
  func of(_ item: UploadItem) -> UploadOptions {
    var options = self
    if let type = item.contentType { options.object.set(.contentType, type) }
    if let metadata = item.metadata { options.object.replaceMetadata(metadata) }
    options.object.set(item.attributes)
    return options
  }
}
