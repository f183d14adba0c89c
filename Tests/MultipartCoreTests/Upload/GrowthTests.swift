import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// The work for one part must not depend on the number of parts. Compares 1,000 and 10,000 parts by the CPU time of the
/// thread; work that grew with their number would take ten times as long for each.
@Suite(.timeLimit(.minutes(15))) struct GrowthTests {
  enum Work: String, CaseIterable {
    case sending, comparing, rejecting, record, list, listInOnePage, completing
  }

  @Test("A part of 10,000 costs no more than a part of 1,000", arguments: Work.allCases)
  func constant(_ work: Work) async throws {
    // The best of several tries: other load on the machine can only make a try longer.
    @Sendable func best(_ parts: Int, tries: Int) throws -> Duration {
      try (0..<tries).map { _ in try Self.cpuTime { try Self.perform(work, parts: parts) } }.min() ?? .zero
    }
    let (few, many) = try await aside { (try best(1000, tries: 5), try best(10_000, tries: 2)) }
    #expect(many < few * 30, "\(work): 1,000 parts take \(few), 10,000 \(many)")
  }

  private static func cpuTime(_ body: () throws -> Void) rethrows -> Duration {
    let start = threadTime()
    try body()
    return threadTime() - start
  }

  private static func perform(_ work: Work, parts: Int) throws {
    switch work {
    case .sending: try upload(parts, listed: false) { .partVerified($0) }
    case .comparing: try upload(parts, listed: true) { .partVerified($0) }
    case .rejecting: try upload(parts, listed: true) { .partRejected($0.number) }
    case .record:
      let (bytes, _) = try RecordSamples.text(RecordSamples.record(parts: parts))
      #expect(try RecordText.read(bytes)?.record.parts.count == parts)
    case .list: #expect(try list(parts, page: 1000) == parts)
    case .listInOnePage: #expect(try list(parts, page: parts) == parts)
    case .completing:
      let receipts = (1...parts).map(receipt)
      #expect(try Expectation(receipts: receipts).sum != nil)
      let operation = CompleteMultipartUpload(
        ObjectAddress("b", "k"), uploadID: "u", parts: receipts.map { .init(number: $0.number, etag: $0.etag) })
      #expect(try operation.request().body.length > Int64(parts * 80))
    }
  }

  private static let size: Int64 = 5 << 20

  private static func receipt(_ number: Int) -> PartReceipt {
    let sum = Checksum(.crc64nvme, bytes: (0..<8).map { UInt8(truncatingIfNeeded: number >> $0) })
    return PartReceipt(
      number: number, size: size, etag: "\"0123456789abcdef0123456789abcdef\"", checksum: sum, proof: .checksum)
  }

  /// Runs a machine from its start to its end, with parts that the store already has or lacks.
  private static func upload(
    _ parts: Int, listed: Bool, compare: (PartReceipt) -> UploadMachine.Event
  ) throws {
    var settings = SoloSettings(
      plan: try UploadPlan(size: size * Int64(parts), partSize: size), form: .algorithm(.crc64nvme), seed: 1)
    settings.finds = true
    settings.hedges = true
    var machine = SoloUpload(settings)
    var out = machine.begin(at: .zero)[...]
    var actions = 0
    while let action = out.popFirst() {
      actions += 1
      let event: UploadMachine.Event
      switch action {
      case .find: event = .found(listed ? [UploadMachine.Candidate(uploadID: "u", use: .own)] : [])
      case .create: event = .created(uploadID: "u")
      case .listParts:
        let sizes = Dictionary(uniqueKeysWithValues: (1...parts).map { ($0, size) })
        event = .partsListed(UploadMachine.PartList(sizes: sizes, form: .algorithm(.crc64nvme)))
      case .verify(let number): event = compare(receipt(number))
      case .send(let number, _, _, _): event = .partDone(receipt(number))
      case .complete: event = .completeDone(.proven(evidence: "e"))
      default: continue
      }
      out += machine.handle(event, at: .milliseconds(actions))
    }
    #expect(machine.receipts.count { $0 != nil } == parts)
    #expect(actions < 10 + parts * 4)
  }

  private static func list(_ parts: Int, page: Int) throws -> Int {
    var list = ListParts(ObjectAddress("b", "k"), uploadID: "u")
    var pages = ListParts.Pages()
    repeat {
      let first = (list.marker ?? 0) + 1
      let last = min(parts, first + page - 1)
      let elements = (first...last).map { number in
        "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;0123456789abcdef&quot;</ETag><Size>\(size)</Size>"
          + "<ChecksumCRC64NVME>AAAAAAAAAAA=</ChecksumCRC64NVME></Part>"
      }
      let text =
        "<ListPartsResult><UploadId>u</UploadId>" + elements.joined() + "<IsTruncated>\(last < parts)</IsTruncated>"
        + "</ListPartsResult>"
      list.marker = pages.add(try list.output(from: Response(status: 200, body: Array(text.utf8))))
    } while list.marker != nil
    return pages.parts.count
  }
}
