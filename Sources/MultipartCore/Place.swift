/// The file, object, upload and part that a failure is about.
public struct Place: Sendable, Equatable {
  /// The source, or a file of settings or state.
  public var file: String?
  /// As it was given.
  public var bucket: String?
  /// Of the object.
  public var key: String?
  /// Of the upload in parts.
  public var uploadID: String?
  /// Its number.
  public var part: Int?

  /// What is known of it.
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
