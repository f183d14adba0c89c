/// Asks about an object: `HEAD /key`. The answer has no body, so a refusal has only a status.
package struct HeadObject: S3Operation {
  package static let name = "HeadObject"

  package enum Output: Sendable, Equatable {
    case exists(ObjectInfo)
    /// 404. It may also mean that the bucket does not exist: a HEAD does not tell which.
    case absent
  }

  package var bucket: String
  package var key: String
  package var versionID: String?
  package var partNumber: Int?
  package var customerKey: CustomerKey?
  package var common: CommonHeaders

  package init(
    bucket: String, key: String, versionID: String? = nil, partNumber: Int? = nil, customerKey: CustomerKey? = nil,
    common: CommonHeaders = CommonHeaders()
  ) {
    self.bucket = bucket
    self.key = key
    self.versionID = versionID
    self.partNumber = partNumber
    self.customerKey = customerKey
    self.common = common
  }

  package var place: Place { Place(bucket: bucket, key: key) }

  package func request() throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    try headers.add("x-amz-checksum-mode", "ENABLED")
    try customerKey?.add(to: &headers)
    try common.add(to: &headers)
    var query: [QueryItem] = []
    if let partNumber { query.append(QueryItem("partNumber", String(partNumber))) }
    if let versionID { query.append(QueryItem("versionId", versionID)) }
    return try S3Request(Self.name, .head, place: place, query: query, headers: headers.list)
  }

  package func output(from answer: Response) throws(Failure) -> Output {
    if answer.status == 404 { return .absent }
    try requireSuccess(answer)
    return .exists(ObjectInfo(answer))
  }
}
