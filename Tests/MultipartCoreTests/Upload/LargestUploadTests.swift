@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct LargestUploadTests {
  @Test("48.8 TiB in 10,000 parts, with faults and a kill half way, are resumed from the record and proven at the end")
  func largest() throws {
    var upload = try LargestUpload()
    #expect(try upload.run(seed: 1, killAfter: 5000) == nil)
    let there = upload.parts.count { $0 != nil }
    #expect(upload.sends.reduce(0, +) == 5000)
    #expect((4900...5000).contains(there))
    let outcome = try upload.run(seed: 2)
    #expect(outcome == .completed(evidence: "CRC64NVME matches the store's"))
    #expect(upload.mistakes.isEmpty)
    #expect(upload.objectSize == 53_687_091_200_000)
    // The parts at the store were compared and not sent again; every other part was sent once, and once more after a
    // fault.
    #expect(upload.compared == there)
    #expect(upload.pages == 5)
    #expect(upload.faults == 10_000 / 89)
    #expect(upload.sends.reduce(0, +) - 5000 - (10_000 - there) <= upload.faults)
    #expect(upload.sends.allSatisfy { $0 <= 2 })
    // The record is as long as its lines: nothing was written twice.
    #expect(upload.record.count < 10_100 * 96)
  }

  @Test("One byte more than 48.8 TiB is refused before anything is sent, whatever the part size")
  func tooLarge() throws {
    for partSize in [nil, S3Limits.largestPart, S3Limits.smallestPart] {
      let failure = #expect(throws: Failure.self) {
        try UploadPlan(size: S3Limits.largestObject + 1, partSize: partSize)
      }
      #expect(failure?.code == .usage)
      #expect(failure?.message.contains("48.8 TiB") == true)
    }
  }
}
