@testable import MultipartCore
import Testing

/// An upload that another client has begun: it is filled and completed, never begun or aborted, and others may do the
/// same.
@Suite(.timeLimit(.minutes(15))) struct MachineTicketStories {
  private static let part: Int64 = 5 << 20
  private static let own = UploadMachine.Candidate(uploadID: "issued", use: .own)
  private static let gone = Failure(.uploadGone, "NoSuchUpload")

  private static func begun(_ there: [Int] = [], share: Range<Int>? = nil) throws -> MachineStory {
    var settings = SoloSettings(
      plan: try UploadPlan(inParts: part * 4, of: part), retry: RetryPolicy(tries: 3), form: .md5, formIsFree: false,
      seed: 1)
    settings.isTicket = true
    settings.share = share
    settings.finds = true
    settings.keepsOn = [.network, .interrupted]
    var story = MachineStory(settings)
    #expect(story.begin() == [.find])
    #expect(story.tell(.found([own])) == [.listParts(uploadID: "issued")])
    story.tell(.partsListed(list(there)))
    story.tell(.recorded(true))
    return story
  }

  private static func list(_ there: [Int]) -> UploadMachine.PartList {
    var list = UploadMachine.PartList(
      sizes: Dictionary(uniqueKeysWithValues: there.map { ($0, part) }), form: .md5)
    list.receipts = there.map { receipt($0) }
    return list
  }

  private static func receipt(_ number: Int) -> PartReceipt {
    PartReceipt(number: number, size: part, etag: "\"\(number)\"", proof: .etag)
  }

  /// Ends with all parts at the store: the list is requested again, and finally the upload is completed.
  private static func end(_ story: inout MachineStory, _ list: UploadMachine.PartList, by: Duration) {
    while story.tell(.partsListed(list)) != [.complete(attempt: 1)], story.now < by {
      story.now += .seconds(1)
      #expect(story.tell(.tick) == [.listParts(uploadID: "issued")])
    }
    #expect(story.last == [.complete(attempt: 1)] && story.now <= by)
  }

  private static func sent(_ story: MachineStory) -> [Int] {
    story.all.compactMap { if case .send(let part, _, _, _) = $0 { part } else { nil } }
  }

  @Test("the missing parts are sent, and then the upload is completed")
  func fills() throws {
    var story = try Self.begun([2, 3])
    for part in [2, 3] { story.tell(.partVerified(Self.receipt(part))) }
    #expect(Self.sent(story).sorted() == [1, 4])
    story.tell(.partDone(Self.receipt(1)))
    #expect(story.tell(.partDone(Self.receipt(4))) == [.complete(attempt: 1)])
    #expect(story.tell(.completeDone(.proven(evidence: "e"))) == [.finish(.completed(evidence: "e"))])
  }

  @Test("a share sends its own parts only, and asks whether the others have arrived")
  func shares() throws {
    var story = try Self.begun([1], share: 3..<5)
    #expect(Self.sent(story) == [3, 4])
    story.tell(.partDone(Self.receipt(3)))
    #expect(story.tell(.partDone(Self.receipt(4))) == [.listParts(uploadID: "issued")])
    #expect(story.tell(.partsListed(Self.list([1, 3, 4]))) == [.finish(.sharing(missing: 1))])
  }

  @Test("the share that finds all parts at the store completes the upload")
  func lastShare() throws {
    var story = try Self.begun([1, 2], share: 3..<5)
    story.tell(.partDone(Self.receipt(3)))
    story.tell(.partDone(Self.receipt(4)))
    Self.end(&story, Self.list([1, 2, 3, 4]), by: .seconds(3))
    #expect(story.machine.receipts.compactMap(\.self).map(\.number) == [1, 2, 3, 4])
  }

  @Test(
    "a share whose parts did not arrive last leaves completion to another, and completes if that one has died",
    arguments: [[4], [2, 4]])
  func notLast(_ latest: [Int]) throws {
    var story = try Self.begun([3, 4], share: 1..<3)
    for part in 1...2 { story.tell(.partDone(Self.receipt(part))) }
    var list = Self.list([1, 2, 3, 4])
    list.latest = latest
    Self.end(&story, list, by: .seconds(26))
    #expect(story.now >= .seconds(latest == [4] ? 15 : 3), "\(story.now)")
  }

  @Test("a share without parts only asks")
  func emptyShare() throws {
    var story = try Self.begun([1], share: 5..<5)
    #expect(story.all.count { $0 == .listParts(uploadID: "issued") } == 2)
    #expect(story.tell(.partsListed(Self.list([1, 2]))) == [.finish(.sharing(missing: 2))])
  }

  @Test("two shares end together: the one whose complete finds the upload gone checks the object")
  func bothComplete() throws {
    var story = try Self.begun([1, 2, 3], share: 4..<5)
    story.tell(.partDone(Self.receipt(4)))
    Self.end(&story, Self.list([1, 2, 3, 4]), by: .seconds(3))
    #expect(story.tell(.completeFailed(Self.gone)) == [.head(mustBeOurs: true)])
    #expect(story.tell(.headDone(.proven(evidence: "e"))) == [.finish(.completed(evidence: "e"))])
  }

  @Test(
    "if another share completes the upload while the list is requested, the object decides", arguments: [true, false])
  func completedMeanwhile(_ isOurs: Bool) throws {
    var story = try Self.begun([], share: 1..<2)
    story.tell(.partDone(Self.receipt(1)))
    #expect(story.tell(.partsListFailed(Self.gone)) == [.head(mustBeOurs: true)])
    story.tell(.headDone(isOurs ? .proven(evidence: "e") : .contradicted(message: "another")))
    #expect(story.outcome == (isOurs ? .completed(evidence: "e") : .failed(.uploadGone)))
    #expect(!story.all.hasAbort)
  }

  @Test("if the upload is gone while a part is sent, the store is asked again, and nothing is begun or aborted")
  func goneWhileSending() throws {
    var story = try Self.begun([1, 2, 3])
    for part in 1...3 { story.tell(.partVerified(Self.receipt(part))) }
    #expect(story.tell(.partFailed(4, Self.gone)) == [.find])
    #expect(story.tell(.found([Self.own])) == [.listParts(uploadID: "issued")])
    #expect(story.tell(.partsListFailed(Self.gone)) == [.head(mustBeOurs: true)])
    #expect(story.tell(.headDone(.absent)) == [.finish(.failed(.uploadGone))])
    #expect(!story.all.hasAbort)
  }

  @Test("a part that another client has replaced is checked again, once")
  func replaced() throws {
    var story = try Self.begun([1, 2, 3])
    for part in 1...3 { story.tell(.partVerified(Self.receipt(part))) }
    story.tell(.partDone(Self.receipt(4)))
    let invalid = Failure(.refused, "InvalidPart", status: 400, s3Code: "InvalidPart")
    #expect(story.tell(.completeFailed(invalid)) == [.find])
    story.tell(.found([Self.own]))
    story.tell(.partsListed(Self.list([1, 2, 3, 4])))
    story.tell(.recorded(true))
    for part in 1...4 { story.tell(.partVerified(Self.receipt(part))) }
    #expect(story.last.contains(.complete(attempt: 1)))
    story.tell(.completeFailed(invalid))
    #expect(story.outcome == .failed(.refused))
    #expect(!story.all.hasAbort)
  }

  @Test("however a run ends, the upload stays", arguments: [Failure.Code.sourceChanged, .dataMismatch, .refused])
  func stays(_ code: Failure.Code) throws {
    var story = try Self.begun()
    for part in 1...4 {
      var failure = Failure(code, "no")
      failure.isSettled = true
      story.tell(.partFailed(part, failure))
    }
    #expect(story.outcome == .failed(code))
    #expect(!story.all.hasAbort)
  }
}
