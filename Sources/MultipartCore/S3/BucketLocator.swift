/// Asks AWS where a bucket is: an unsigned HEAD, whose answer names the region whatever its status.
enum BucketLocator {
  /// The region; nil if the bucket's name contains it, if the store is not AWS, and if there was no answer: then the
  /// first request learns the region from a redirect.
  static func region(
    of question: EndpointQuestion, transport: any Transport, world: World
  ) async -> String? {
    var question = question
    question.options.accelerate = false
    guard let bucket = try? EndpointResolver.resolve(question), bucket.isAWS, bucket.kind == .bucket else { return nil }
    var request = Request(method: .head, url: bucket.origin.description + bucket.pathForBucket)
    request.timeLimit = .seconds(10)
    world.log(2, "> HeadBucket HEAD \(request.url), unsigned, for its region")
    do throws(Failure) {
      let answer = try await transport.send(request)
      let region = answer.headers[HeaderName.bucketRegion].flatMap(S3ErrorBody.region)
      world.log(2, "< \(answer.status) to HeadBucket, region \(region ?? "not named")")
      guard let region, AWSHost.isRegion(region),
        Partition.of(region: region) == Partition.of(region: bucket.region)
      else { return nil }
      return region
    } catch {
      world.log(1, "the bucket's region could not be looked up: \(error.message)")
      return nil
    }
  }
}
