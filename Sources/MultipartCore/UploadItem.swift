/// One object of an upload of many: where its bytes come from, and where they go.
public struct UploadItem: Sendable {
  /// Where its bytes come from.
  public var input: UploadInput
  /// The object's key.
  public var key: String
  /// Another bucket of the same store, for which the same credentials are used; nil: the store's own.
  public var bucket: String?
  /// The region of that bucket.
  public var region: String?
  /// Used instead of the content type of the options.
  public var contentType: String?
  /// Used instead of the metadata of the options.
  public var metadata: [NamedValue]?

  /// Each is used instead of what the options say under its name, and what a batch's own line says comes last.
  var attributes: [ObjectAttribute] = []
  /// Its name in the list of files that it came from.
  var name: [UInt8]?
  /// It is uploaded by this ticket.
  var ticket: Ticket?

  /// An object of the store's own bucket.
  public init(_ input: UploadInput, to key: String) {
    self.input = input
    self.key = key
  }
}

extension UploadOptions {
  /// For one object of many.
  func of(_ item: UploadItem) -> UploadOptions {
    var options = self
    if let type = item.contentType { options.object.contentType = type }
    if let metadata = item.metadata { options.object.metadata = metadata }
    options.object.set(item.attributes)
    return options
  }
}
