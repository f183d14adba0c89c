import Foundation
import MultipartBasics

@testable import MultipartCore

/// An upload of 10,000 parts of 5 GiB of zeros, 48.8 TiB: the machine, the record and the requests are the program's, but
/// without the bytes of the parts; store and disk are a few arrays.
struct LargestUpload {
  static let uploadID = "the-upload"
  /// Computed with Python's integers, as in the tests of combining.
  static let sumOfPart = "ce36fe0285569d20"
  static let sumOfWhole = "364d33727691100b"

  let plan: UploadPlan
  // The store: ETags by part number minus one, and the object's size once it exists.
  var parts: [String?] = Array(repeating: nil, count: S3Limits.mostParts)
  var objectSize: Int64?
  /// The disk.
  var record: [UInt8] = []
  // What was observed.
  var sends: [Int] = Array(repeating: 0, count: S3Limits.mostParts)
  var faults = 0
  var compared = 0
  var pages = 0
  var mistakes: [String] = []

  init() throws(Failure) {
    plan = try UploadPlan(size: S3Limits.largestObject)
  }

  static func etag(_ number: Int) -> String { "\"\(String(format: "%032x", number * 7919))\"" }

  private func receipt(_ number: Int) throws(Failure) -> PartReceipt {
    let sum = Hex.decode(Self.sumOfPart).flatMap { Checksum(.crc64nvme, bytes: $0) }
    return PartReceipt(
      number: number, size: plan.range(of: number).length, etag: Self.etag(number), checksum: sum, proof: .checksum)
  }

  /// Runs one process. It is killed after `killAfter` sends: running requests reach the store, and the record's last
  /// line is cut.
  mutating func run(seed: UInt64, killAfter: Int? = nil) throws(Failure) -> UploadMachine.Outcome? {
    var settings = SoloSettings(plan: plan, form: .algorithm(.crc64nvme), formIsFree: true, seed: seed)
    settings.finds = true
    settings.hedges = true
    settings.keepsOn = [.network]
    let found = try RecordText.read(record)
    if let found { record.removeLast(record.count - found.length) }
    var recordSeed = found?.seed ?? 0
    var machine = SoloUpload(settings)
    var (out, timers, now): ([UploadMachine.Action], [Duration], Duration) = ([], [], .zero)
    var event: Run<UploadMachine>.Event?
    var actions: [UploadMachine.Action]
    out += machine.begin(at: now)
    var sent = 0
    while true {
      while let next = event {
        event = nil
        if case .of(_, .created) = next { (record, recordSeed) = try RecordText.head(header) }
        if case .of(_, .partDone(let receipt)) = next {
          let part = UploadRecord.Part(
            number: receipt.number, size: receipt.size, etag: receipt.etag, checksum: receipt.checksum)
          record += try RecordText.entry(part, seed: recordSeed)
        }
        actions = machine.handle(next, at: now)
        timers += machine.wakes
        for action in actions {
          switch action {
          case .say: break
          case .adopt: _ = machine.handle(.recorded(true), at: now)
          case .finish(let outcome): return outcome
          default: out.append(action)
          }
        }
      }
      if sent == killAfter {
        for case .send(let number, _, _, _) in out { parts[number - 1] = Self.etag(number) }
        record.removeLast(40)
        return nil
      }
      if out.isEmpty {
        guard let next = timers.min() else {
          mistakes.append("nothing is pending, but there is no end")
          return nil
        }
        now = max(now, next)
        timers.removeAll { $0 <= now }
        event = .tick
        continue
      }
      // The last action comes first, so that parts arrive in another order than they were sent in.
      let action = out.removeLast()
      if case .send = action { sent += 1 }
      event = try answer(action, machine, found?.record).map { .of(0, $0) }
    }
  }

  private mutating func answer(
    _ action: UploadMachine.Action, _ machine: SoloUpload, _ found: UploadRecord?
  ) throws(Failure) -> UploadMachine.Event? {
    switch action {
    case .find:
      return .found(found.map { [UploadMachine.Candidate(uploadID: $0.header.uploadID, use: .own)] } ?? [])
    case .create: return .created(uploadID: Self.uploadID, isRecorded: true)
    case .listParts:
      let listed = try list()
      return .partsListed(
        UploadMachine.PartList(
          sizes: Dictionary(listed.map { ($0.number, $0.size) }) { _, last in last }, form: .algorithm(.crc64nvme)))
    case .verify(let number):
      compared += 1
      return .partVerified(try receipt(number))
    case .send(let number, _, _, _):
      sends[number - 1] += 1
      // Every 89th part is refused the first time; the store has every second of those anyway.
      if number % 89 == 0, sends[number - 1] == 1 {
        faults += 1
        if number % 2 == 0 { parts[number - 1] = Self.etag(number) }
        return .partFailed(number, Failure(number % 3 == 0 ? .throttled : .network, "told to fail"))
      }
      parts[number - 1] = Self.etag(number)
      return .partDone(try receipt(number))
    case .complete: return .completeDone(try complete(machine.receipts.compactMap(\.self)))
    default:
      mistakes.append("\(action)")
      return nil
    }
  }
}

// MARK: - The wire
extension LargestUpload {
  private var header: UploadRecord.Header {
    UploadRecord.Header(
      target: RecordTarget(origin: "https://s3.example", bucket: "bucket", key: "key"), sourcePath: FilePath("/large"),
      source: RecordSamples.identity(device: 1, inode: 1, size: plan.size, modified: (0, 0), changed: (0, 0)),
      uploadID: Self.uploadID, partSize: plan.partSize, form: .algorithm(.crc64nvme), optionsDigest: "none",
      created: Timestamp(seconds: 1_800_000_000))
  }

  /// Lists the parts in pages of 1,000, as S3 writes them.
  private mutating func list() throws(Failure) -> [ListParts.Part] {
    var list = ListParts(ObjectAddress("bucket", "key"), uploadID: Self.uploadID)
    var read = ListParts.Pages()
    repeat {
      pages += 1
      list.marker = read.add(try list.output(from: page(after: list.marker ?? 0)))
    } while list.marker != nil
    return read.parts
  }

  private func page(after marker: Int) -> Response {
    let there = parts.indices.lazy.filter { parts[$0] != nil && $0 >= marker }.prefix(1001).map { $0 + 1 }
    var text = "<ListPartsResult><UploadId>\(Self.uploadID)</UploadId><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm>"
    text += "<IsTruncated>\(there.count > 1000)</IsTruncated>"
    for number in there.prefix(1000) {
      text +=
        "<Part><PartNumber>\(number)</PartNumber><ETag>\(Self.etag(number))</ETag><Size>\(plan.partSize)</Size></Part>"
    }
    return Response(status: 200, body: Array((text + "</ListPartsResult>").utf8))
  }

  /// Assembles the object from the list that was sent, and answers with its properties.
  private mutating func complete(_ receipts: [PartReceipt]) throws(Failure) -> Judgement {
    let expected = try Expectation(receipts: receipts)
    var operation = CompleteMultipartUpload(
      ObjectAddress("bucket", "key"), uploadID: Self.uploadID,
      parts: receipts.map { CompleteMultipartUpload.Part(number: $0.number, etag: $0.etag) })
    operation.objectSize = expected.size
    let request = try operation.request()
    guard case .bytes(let body) = request.body, let list = try? XMLReader.read(body).root else {
      return .contradicted(message: "no list")
    }
    var (next, size): (Int, Int64) = (1, 0)
    for part in list.children {
      guard part.integer("PartNumber", in: S3Limits.partNumbers) == next, part.string("ETag") == parts[next - 1] else {
        return .contradicted(message: "part \(next) is not the stored one")
      }
      size += plan.range(of: next).length
      next += 1
    }
    guard next == S3Limits.mostParts + 1, request.headers["x-amz-mp-object-size"] == String(size) else {
      return .contradicted(message: "\(next - 1) parts, \(size) bytes")
    }
    objectSize = size
    let sum = Hex.decode(Self.sumOfWhole).map { Base64.encode($0) } ?? ""
    return Verdict.judge(
      expected,
      ReportedObject(size: size, checksums: ["x-amz-checksum-crc64nvme": sum], checksumTypeText: "FULL_OBJECT"))
  }
}
