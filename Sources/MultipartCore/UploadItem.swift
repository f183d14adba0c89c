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
