/// What every operation can carry.
package struct CommonHeaders: Sendable, Equatable {
  /// The account that must own the bucket, else the store refuses.
  package var expectedBucketOwner: String?
  /// Who asks pays, where the bucket asks for it.
  package var requestPayer: Bool

  package init(expectedBucketOwner: String? = nil, requestPayer: Bool = false) {
    self.expectedBucketOwner = expectedBucketOwner
    self.requestPayer = requestPayer
  }

  func add(to headers: inout S3HeaderBuilder) throws(Failure) {
    try headers.add("x-amz-expected-bucket-owner", expectedBucketOwner)
    try headers.add("x-amz-request-payer", requestPayer ? "requester" : nil)
  }
}

/// Under which condition an object may be written.
public struct WriteConditions: Sendable, Equatable {
  /// Only when there is no object under the key: `If-None-Match: *`.
  public var ifNoneMatch: Bool
  /// Only over the object that has this ETag.
  public var ifMatch: String?

  /// Without one the object is written whatever is there.
  public init(ifNoneMatch: Bool = false, ifMatch: String? = nil) {
    self.ifNoneMatch = ifNoneMatch
    self.ifMatch = ifMatch
  }

  func add(to headers: inout S3HeaderBuilder) throws(Failure) {
    if ifNoneMatch, ifMatch != nil {
      throw Failure(.usage, "an object cannot be asked to be absent and to have an ETag at once")
    }
    try headers.add("If-None-Match", ifNoneMatch ? "*" : nil)
    try headers.add("If-Match", ifMatch.map(Self.quoted))
  }

  /// An ETag goes into a condition with its quotes, whether or not they were typed.
  static func quoted(_ etag: String) -> String {
    etag.utf8.first == UInt8(ascii: "\"") || etag.utf8.elementsEqual("*".utf8) || etag.hasPrefix("W/")
      ? etag : "\"\(etag)\""
  }
}
