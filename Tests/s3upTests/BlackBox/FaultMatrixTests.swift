import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// The phase of an upload in which something goes wrong.
enum FaultPhase: String, CaseIterable {
  case find, create, part, list, complete, head, abort

  var operation: FakeOperation {
    switch self {
    case .find: .listMultipartUploads
    case .create: .createMultipartUpload
    case .part: .uploadPart
    case .list: .listParts
    case .complete: .completeMultipartUpload
    case .head: .headObject
    case .abort: .abortMultipartUpload
    }
  }

  func match(once: Bool) -> Fault.Match {
    Fault.Match(operation, partNumber: self == .part ? 3 : nil, nth: once ? 1 : nil)
  }

  /// The options of a run that has this phase: `--verify` for a HEAD, `--resume adopt` for a search. An abort follows a
  /// part that is refused for good.
  var options: [String] { self == .head ? ["--verify"] : self == .find ? ["--resume", "adopt"] : [] }
  static let refusal = Fault(.init(.uploadPart, partNumber: 5), .error(status: 400, code: "EntityTooLarge"))
}

/// A fault, and the result if it applies to each request of the phase, not only the first.
struct MatrixFault: Sendable {
  var name: String
  var action: Fault.Action
  /// Whether the store has carried out the request, so that only the answer is lost.
  var isDone = false

  static let passing = [
    MatrixFault(name: "reset", action: .resetBeforeReading),
    MatrixFault(name: "answer lost", action: .loseAnswer, isDone: true),
    MatrixFault(name: "half-closed", action: .halfClose, isDone: true),
    MatrixFault(name: "stalled", action: .stall(stage: .beforeBody)),
    MatrixFault(name: "stalled, all done", action: .stall(stage: .beforeAnswer), isDone: true),
    MatrixFault(name: "answer cut off", action: .truncateAnswer(bytes: 20), isDone: true),
    MatrixFault(name: "no HTTP", action: .garbage(), isDone: true),
    MatrixFault(name: "500", action: .error(status: 500, code: "InternalError")),
    MatrixFault(name: "503", action: .error(status: 503, code: "SlowDown")),
    MatrixFault(name: "429", action: .error(status: 429, code: "TooManyRequests")),
    MatrixFault(name: "RequestTimeout", action: .error(status: 400, code: "RequestTimeout")),
    MatrixFault(name: "307", action: .error(status: 307, code: "TemporaryRedirect")),
  ]

  static let lasting = [
    MatrixFault(name: "denied", action: .error(status: 403, code: "AccessDenied")),
    MatrixFault(name: "refused", action: .error(status: 400, code: "InvalidRequest")),
  ]
}

struct MatrixCase: Sendable, CustomTestStringConvertible {
  var fault: MatrixFault
  var phase: FaultPhase
  var testDescription: String { "\(fault.name) at \(phase.rawValue)" }

  static func all(_ faults: [MatrixFault]) -> [MatrixCase] {
    FaultPhase.allCases.flatMap { phase in faults.map { MatrixCase(fault: $0, phase: phase) } }.filter(\.isPossible)
  }

  private var isPossible: Bool {
    switch fault.action {
    // These answers have no body.
    case .truncateAnswer: ![.part, .head, .abort].contains(phase)
    // A store may assemble for ten minutes without an answer: that is not a stall after 1 s.
    case .stall: phase != .complete
    default: true
    }
  }

  func armed(once: Bool) -> [Fault] {
    [Fault(phase.match(once: once), fault.action)] + (phase == .abort ? [FaultPhase.refusal] : [])
  }
}

/// Every fault in every phase. Each upload has five parts, two of which a killed run has left at the store; for `find`
/// and `create` the store is empty.
@Suite(.crowd) struct FaultMatrixTests {
  private static let words = StoppedUpload.words + ["--stall-timeout", "1s", "--json"]

  private func prepared(_ phase: FaultPhase) async throws -> (box: BlackBox, bytes: [UInt8]) {
    if phase == .find || phase == .create {
      let box = try BlackBox()
      return (box, try box.sample("f", StoppedUpload.size))
    }
    let stopped = try await StoppedUpload()
    return (stopped.box, stopped.bytes)
  }

  private func run(_ one: MatrixCase, once: Bool) async throws -> (BlackBox, [UInt8], ChildProcess.Result) {
    let (box, bytes) = try await prepared(one.phase)
    box.fake.setFaults(one.armed(once: once))
    let before = box.fake.requests.count
    let result = try await box.run(Self.words + one.phase.options + ["--retries", once ? "4" : "2"])
    let met = box.fake.requests.dropFirst(before).count { $0.operation == one.phase.operation && $0.fault != nil }
    #expect(met > 0)
    // A refusal is not retried. Parts are also listed to check an abort.
    if MatrixFault.lasting.contains(where: { $0.name == one.fault.name }), ![.list, .head].contains(one.phase) {
      #expect(met == 1)
    }
    return (box, bytes, result)
  }

  /// Expects exit code 0 and an object that is the file; or a failure, and no object.
  private func expectTruth(_ box: BlackBox, _ bytes: [UInt8], _ result: ChildProcess.Result) {
    let isThere = box.fake.object("k")?.holds(bytes) == true
    #expect(result.status != 0 || isThere, "\(result.errors)")
  }

  @Test(
    "A fault that passes is survived once in every phase, and nothing is left behind",
    arguments: MatrixCase.all(MatrixFault.passing))
  func once(_ one: MatrixCase) async throws {
    let (box, bytes, result) = try await run(one, once: true)
    expectTruth(box, bytes, result)
    if one.phase == .abort {
      #expect(result.status == 69, "\(result.errors)")
      #expect(box.fake.objectCount == 0)
    } else {
      #expect(result.status == 0, "\(result.errors)")
    }
    // An upload whose create had no answer may be another machine's: it is named, and costs nothing.
    let isLost = one.phase == .create && one.fault.isDone
    #expect(box.fake.unfinishedUploads.map(\.parts.count) == (isLost ? [0] : []))
    for left in box.fake.unfinishedUploads { #expect(result.errors.contains(left.id), "\(result.errors)") }
    #expect(try box.records() == [])
  }

  @Test(
    "A fault that does not pass ends in 75, with the upload kept, or named if it could not be aborted",
    arguments: MatrixCase.all(MatrixFault.passing))
  func always(_ one: MatrixCase) async throws {
    let (box, bytes, result) = try await run(one, once: false)
    expectTruth(box, bytes, result)
    switch one.phase {
    case .find, .create: #expect(result.status == 75, "\(result.errors)")
    case .part, .list: try await expectResumable(box, bytes, result)
    case .complete:
      // If the complete was carried out, a HEAD finds the object; otherwise the upload is kept.
      if one.fault.isDone {
        #expect(result.status == 0, "\(result.errors)")
      } else {
        try await expectResumable(box, bytes, result)
      }
    case .head:
      // With --verify the success of complete is not enough if the object cannot be checked.
      #expect(result.status == 75, "\(result.errors)")
      #expect(box.fake.unfinishedUploads.map(\.id) == [])
    case .abort:
      #expect(result.status == 69, "\(result.errors)")
      guard let id = box.fake.unfinishedUploads.first?.id else { return #expect(one.fault.isDone) }
      #expect(result.errors.contains(id), "\(result.errors)")
    }
  }

  @Test("A refusal is not retried, and is reported", arguments: MatrixCase.all(MatrixFault.lasting))
  func lasting(_ one: MatrixCase) async throws {
    let (box, bytes, result) = try await run(one, once: false)
    expectTruth(box, bytes, result)
    let isDenied = one.fault.name == "denied"
    let exit: Int32 = isDenied ? 77 : 69
    switch one.phase {
    case .find: #expect(result.status == 0, "without the permission to list a new upload begins: \(result.errors)")
    case .create: #expect(result.status == exit, "\(result.errors)")
    case .part, .list, .complete:
      #expect(result.status == exit, "\(result.errors)")
      #expect(box.fake.unfinishedUploads.isEmpty == (exit == 69))
    case .head:
      // The answer to a HEAD has no body and no code: the meaning of a 400 is unknown, and it may pass.
      #expect(result.status == (isDenied ? 77 : 75), "\(result.errors)")
      #expect(box.fake.unfinishedUploads.map(\.id) == [])
    case .abort:
      #expect(result.status == 69, "\(result.errors)")
      let id = try #require(box.fake.unfinishedUploads.first?.id)
      #expect(result.errors.contains(id), "\(result.errors)")
    }
  }

  private func expectResumable(_ box: BlackBox, _ bytes: [UInt8], _ result: ChildProcess.Result) async throws {
    #expect(result.status == 75, "\(result.errors)")
    #expect(result.errors.contains("to resume: "), "\(result.errors)")
    try await box.expectResumes(StoppedUpload.words, to: bytes)
  }
}
