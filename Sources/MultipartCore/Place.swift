/// The file, object, upload and part that a failure is about.
public struct Place: Sendable, Equatable {
  /// The source, or a file of settings or state.
  public var file: String?
  /// The bucket, as it was given.
  public var bucket: String?
  /// The object's key.
  public var key: String?
  /// The id of the multipart upload.
  public var uploadID: String?
  /// The part's number.
  public var part: Int?

  /// A place with the fields that are known.
  public init(
    file: String? = nil, bucket: String? = nil, key: String? = nil, uploadID: String? = nil, part: Int? = nil
  ) {
    self.file = file
    self.bucket = bucket
    self.key = key
    self.uploadID = uploadID
    self.part = part
  }

  mutating func fill(from other: Place) {
    file = file ?? other.file
    bucket = bucket ?? other.bucket
    key = key ?? other.key
    uploadID = uploadID ?? other.uploadID
    part = part ?? other.part
  }
}
