/// A bucket, with the headers of every request about it.
struct BucketAddress: Sendable, Equatable {
  /// The bucket as the caller gave it: a name, an alias or an ARN.
  var name: String
  var common: CommonHeaders

  init(_ name: String, _ common: CommonHeaders = CommonHeaders()) {
    (self.name, self.common) = (name, common)
  }

  var place: Place { Place(bucket: name) }
}

/// Where an object is, or will be, with the headers of every request about it.
struct ObjectAddress: Sendable, Equatable {
  var bucket: String
  var key: String
  /// The caller's own encryption key (SSE-C): S3 requires the same key in every request about the object's bytes.
  var customerKey: CustomerKey?
  var common: CommonHeaders

  init(
    _ bucket: String, _ key: String, customerKey: CustomerKey? = nil, _ common: CommonHeaders = CommonHeaders()
  ) {
    (self.bucket, self.key, self.customerKey, self.common) = (bucket, key, customerKey, common)
  }

  var inBucket: BucketAddress { BucketAddress(bucket, common) }

  var place: Place { Place(bucket: bucket, key: key) }

  func place(uploadID: String, part: Int? = nil) -> Place {
    Place(bucket: bucket, key: key, uploadID: uploadID, part: part)
  }
}

/// Headers that every request can have.
struct CommonHeaders: Sendable, Equatable {
  /// The account that must own the bucket; otherwise the store refuses.
  var expectedBucketOwner: String?
  /// Agrees to pay for the request if the bucket requires it.
  var requestPayer = false

  /// The headers for a request with no others.
  func list() throws(Failure) -> HeaderList {
    var headers = S3HeaderBuilder()
    try headers.add(self)
    return headers.list
  }
}

extension S3HeaderBuilder {
  mutating func add(_ common: CommonHeaders) throws(Failure) {
    try add("x-amz-expected-bucket-owner", common.expectedBucketOwner)
    try add("x-amz-request-payer", common.requestPayer ? "requester" : nil)
  }

  mutating func add(_ address: ObjectAddress) throws(Failure) {
    try address.customerKey?.add(to: &self)
    try add(address.common)
  }
}
