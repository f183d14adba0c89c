/// Asks whether a bucket exists, and where: `HEAD /`. A refusal may name the region too, in `Failure.region`.
package struct HeadBucket: S3Operation {
  package static let name = "HeadBucket"

  package struct Output: Sendable, Equatable {
    /// Nil at most stores other than AWS.
    package var region: String?
    package var requestID: String?
  }

  package var bucket: String
  package var common: CommonHeaders

  package init(bucket: String, common: CommonHeaders = CommonHeaders()) {
    self.bucket = bucket
    self.common = common
  }

  package var place: Place { Place(bucket: bucket) }

  package func request() throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    try common.add(to: &headers)
    return try S3Request(Self.name, .head, place: place, headers: headers.list)
  }

  package func output(from answer: Response) throws(Failure) -> Output {
    try requireSuccess(answer)
    return Output(
      region: answer.headers["x-amz-bucket-region"].flatMap(S3ErrorBody.region),
      requestID: S3ErrorBody.requestID(answer.headers))
  }
}
