import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct UploadJobTests {
  private let directory: TemporaryDirectory
  private let job: UploadJob

  init() throws {
    directory = try TemporaryDirectory()
    let file = try SourceFile(FilePath(try directory.write([1, 2, 3], to: "file")))
    job = UploadJob(file: file, to: ObjectAddress("bucket", "key"))
  }

  private func settings(
    signs: Bool = false, _ change: (inout UploadJob) -> Void = { _ in }
  ) throws -> UploadMachine.Settings {
    var job = job
    change(&job)
    return job.settings(plan: try UploadPlan(size: 3), signsPayload: signs)
  }

  @Test("auto is CRC64NVME or a weaker one; the user's choice is never replaced, not even by what was remembered")
  func form() throws {
    #expect(try settings().form == .algorithm(.crc64nvme))
    #expect(try settings().formIsFree)
    #expect(try settings { $0.remembered = .md5 }.form == .md5)
    #expect(try settings { $0.remembered = ChecksumForm.nothing }.form == ChecksumForm.nothing)
    let chosen = try settings {
      $0.checksum = .algorithm(.sha256)
      $0.remembered = .md5
    }
    #expect(chosen.form == .algorithm(.sha256))
    #expect(!chosen.formIsFree)
  }

  @Test("If the payload's SHA-256 is signed, a remembered MD5 is not needed, but a chosen one is sent")
  func signed() throws {
    #expect(try settings(signs: true) { $0.remembered = .md5 }.form == ChecksumForm.nothing)
    #expect(try settings(signs: true) { $0.checksum = .md5 }.form == .md5)
    #expect(try settings(signs: true).form == .algorithm(.crc64nvme))
    #expect(try settings(signs: true).payloadIsSigned)
  }

  @Test("A condition is checked first; without one no request is sent")
  func conditions() throws {
    #expect(try !settings().checksFirst)
    #expect(try settings { $0.conditions.ifNoneMatch = true }.checksFirst)
    #expect(try settings { $0.conditions.ifMatch = "\"x\"" }.checksFirst)
    #expect(try settings { $0.verifies = true }.alwaysVerifies)
  }

  @Test("A concurrency of zero is one")
  func concurrency() throws {
    for few in [0, -3] {
      var job = job
      job.concurrency = few
      let plan = try UploadPlan(size: 3)
      let settings = job.scheduling(plan, seed: 7, now: Timestamp(seconds: 0))
      #expect(UploadMachine.Scheduler(settings, partSize: plan.partSize).width == 1)
    }
  }

  @Test("An ETag is compared with the MD5 only if it can be one")
  func etags() throws {
    var job = job
    #expect(job.etagMayBeMD5)
    job.encryption = ServerSideEncryption(.aes256)
    #expect(job.etagMayBeMD5)
    job.encryption = ServerSideEncryption(.kms)
    #expect(!job.etagMayBeMD5)
  }

  @Test("A checksum steps down to MD5 and then to none; a signed payload needs no MD5")
  func stepsDown() {
    for algorithm in ChecksumAlgorithm.allCases {
      #expect(ChecksumForm.algorithm(algorithm).steppedDown(payloadIsSigned: false) == .md5)
      #expect(ChecksumForm.algorithm(algorithm).steppedDown(payloadIsSigned: true) == ChecksumForm.nothing)
    }
    for signed in [false, true] {
      #expect(ChecksumForm.md5.steppedDown(payloadIsSigned: signed) == ChecksumForm.nothing)
      #expect(ChecksumForm.nothing.steppedDown(payloadIsSigned: signed) == nil)
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct UploadProgressTests {
  @Test("Bytes being sent count until their part fails, and permanently once it has arrived")
  func counts() {
    let progress = TransferProgress(total: 30, parts: 3)
    let (first, second) = (progress.begin(), progress.begin())
    first.add(10)
    second.add(4)
    #expect(progress.bytes == 0, "in the socket's buffer")
    first.acknowledge(7)
    second.acknowledge(4)
    #expect(progress.bytes == 11 && progress.transferred == 11)
    #expect(progress.connections == 2)
    second.end(confirmed: nil)
    #expect(progress.bytes == 7 && progress.transferred == 11)
    #expect(progress.bytesSent == 14)
    first.end(confirmed: 10)
    #expect(progress.bytes == 10 && progress.transferred == 14)
    #expect(progress.partsDone == 1)
    #expect(progress.connections == 0)
  }

  @Test("A body that begins again subtracts its bytes, but they count as sent")
  func rewinds() {
    let progress = TransferProgress(total: 10, parts: 1)
    let part = progress.begin()
    part.add(6)
    part.acknowledge(5)
    part.add(-6)
    part.add(10)
    part.acknowledge(3)
    #expect(progress.bytes == 3)
    #expect(progress.bytesSent == 16)
    part.end(confirmed: 10)
    #expect(progress.bytes == 10)
  }

  @Test("Progress is never negative and, once everything is confirmed, exactly the total")
  func bounds() {
    let progress = TransferProgress(total: 10, parts: 1)
    let part = progress.begin()
    part.add(-5)
    #expect(progress.bytes == 0)
    part.end(confirmed: 10)
    #expect(progress.bytes == progress.total)
  }

  @Test("A part that is sent twice counts once, in another upload too, and its transfers are told apart")
  func twice() {
    let progress = TransferProgress(total: 10, parts: 1)
    let (first, copy) = (TransferProgress.Transfer(part: 1), TransferProgress.Transfer(part: 1, isCopy: true))
    for _ in 1...2 {
      let transfers = (progress.begin(first), progress.begin(copy))
      transfers.0.add(10)
      transfers.1.add(3)
      transfers.0.acknowledge(7)
      #expect(progress.moved == [1: 7])
      #expect(progress.moved(copy) == 3)
      transfers.1.end(confirmed: 10)
      transfers.0.end(confirmed: 10)
      #expect(progress.moved(first) == nil && progress.moved == [:])
      #expect(progress.bytes == 10)
      #expect(progress.partsDone == 1)
      progress.reset()
    }
  }

  @Test("Answers are awaited once every body under way has arrived, and no longer when another one begins")
  func awaitsAnswers() {
    let progress = TransferProgress(total: 20, parts: 2)
    #expect(!progress.awaitsAnswers)
    let first = progress.begin(.init(part: 1), sending: 10)
    first.acknowledge(9)
    #expect(!progress.awaitsAnswers)
    first.acknowledge(10)
    #expect(progress.awaitsAnswers)
    let second = progress.begin(.init(part: 2), sending: 10)
    #expect(!progress.awaitsAnswers)
    second.acknowledge(10)
    #expect(progress.awaitsAnswers)
    first.end(confirmed: 10)
    #expect(progress.awaitsAnswers)
    second.end(confirmed: nil)
    #expect(!progress.awaitsAnswers)
  }

  @Test("An upload that begins again starts counting again")
  func reset() {
    let progress = TransferProgress(total: 10, parts: 2)
    let part = progress.begin()
    part.add(5)
    part.end(confirmed: 5)
    progress.reset()
    #expect(progress.bytes == 0)
    #expect(progress.partsDone == 0)
    #expect(progress.bytesSent == 5)
  }

  @Test("Counters updated by many threads lose nothing")
  func threads() async {
    let progress = TransferProgress(total: 80_000, parts: 80)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<80 {
        group.addTask {
          let part = progress.begin()
          for _ in 0..<1000 { part.add(1) }
          part.end(confirmed: 1000)
        }
      }
    }
    #expect(progress.bytes == 80_000)
    #expect(progress.bytesSent == 80_000)
    #expect(progress.partsDone == 80)
    #expect(progress.connections == 0)
  }
}
