import MultipartBasics

/// One page of the buckets of an account: `GET /`. Only AWS has pages, and only on request.
struct ListBuckets: S3Operation {
  static let name = OperationName("ListBuckets", needs: "s3:ListAllMyBuckets")

  struct Page: Sendable, Equatable {
    var buckets: [ListedBucket]
    var nextToken: String?
  }

  var token: String?

  var place: Place { Place() }

  func request() throws(Failure) -> S3Request {
    try S3Request(
      Self.name, .get, place: place, query: token.map { [QueryItem("continuation-token", $0)] } ?? [],
      maximumAnswer: ListedPage.mostBytes, isAboutService: true)
  }

  func output(from answer: Response) throws(Failure) -> Page {
    let tree = try document(answer)
    guard let root = tree.root, let list = root.isNamed("Buckets") ? root : tree.first("Buckets") else {
      throw nonsense(answer, "the answer to \(operation) is not a list of buckets")
    }
    let buckets = list.children.filter { $0.isNamed("Bucket") }.compactMap { element in
      element.string("Name").map { name in
        ListedBucket(
          name: name, created: element.string("CreationDate").flatMap(DateText.iso8601),
          region: element.string("BucketRegion").map(ASCII.trimmed))
      }
    }
    return Page(buckets: buckets, nextToken: root.string("ContinuationToken"))
  }
}
