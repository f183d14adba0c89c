@testable import MultipartCore
import Testing

@Suite("Endpoints by AWS's rules", .timeLimit(.minutes(15)))
struct EndpointTableTests {
  @Test("a bucket's requests go where AWS's rules say, or are refused", arguments: EndpointCase.partitions)
  func partitions(row: EndpointCase) { check(row) }

  @Test("each kind of bucket is resolved by its own rule, or refused", arguments: EndpointCase.kinds)
  func kinds(row: EndpointCase) { check(row) }

  private func check(_ row: EndpointCase) {
    guard row.wanted.hasPrefix("!") else {
      #expect(row.found == row.wanted)
      return
    }
    #expect(row.found.hasPrefix("!") && row.found.contains(row.wanted.dropFirst()), "\(row.found)")
    // Every refusal has a remedy.
    #expect(!row.found.hasSuffix("; "))
  }

  @Test("the tables hold what they promise")
  func size() {
    #expect(EndpointCase.partitions.count + EndpointCase.kinds.count >= 250)
    #expect(EndpointCase.partitions.contains { $0.wanted.hasPrefix("!") })
  }

  @Test(
    "the code of a failure of two options depends on where they were set",
    arguments: [Failure.Code.usage, .configuration])
  func blame(code: Failure.Code) {
    var question = EndpointQuestion(bucket: "bucket", region: "eu-west-1")
    question.options.accelerate = true
    question.options.fips = true
    question.options.blame = code
    #expect(throws: Failure.self) { try EndpointResolver.resolve(question) }
    do throws(Failure) { _ = try EndpointResolver.resolve(question) } catch { #expect(error.code == code) }
  }

  @Test("a region in the bucket's name is known without asking")
  func regionOfName() {
    func region(_ bucket: String) -> String? { EndpointQuestion(bucket: bucket).regionOfName }
    #expect(region("arn:aws:s3:us-west-2:123456789012:accesspoint/ap") == "us-west-2")
    #expect(region("b--apse2-az1--x-s3") == "ap-southeast-2")
    #expect(region("b--test-zone--x-s3") == nil)
    #expect(region("bucket") == nil)
    #expect(region("arn:aws:s3:::bucket") == nil)
  }
}
