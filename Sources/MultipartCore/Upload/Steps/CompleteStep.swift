import MultipartBasics

/// Completes an upload whose parts were sent by other programs: the single step of scripts. A failure leaves it as it
/// is. The settings that it was created with are checked as far as the caller gives them.
struct CompleteStep: Sendable {
  private let finisher: Finisher
  private let check: SettingsCheck?
  private let retry: RetryPolicy
  private let world: World

  init(finisher: Finisher, check: SettingsCheck? = nil, retry: RetryPolicy, world: World) {
    self.finisher = finisher
    self.check = check
    self.retry = retry
    self.world = world
  }

  func run(_ receipts: [PartReceipt], uploadID: String) async throws(Failure) -> UploadedObject {
    let (end, retries) = try await play(.complete(of: 0, Completion.Ways()), receipts, uploadID: uploadID)
    return try await inspected(
      UploadedObject(
        .completed, size: finisher.expected?.size ?? 0, parts: receipts.count, finisher.known,
        checksum: finisher.expected?.sum, evidence: try evidence(end), retries: retries))
  }

  /// Checks an object that exists and is proven; fails if it does not have the requested settings.
  func inspected(_ result: UploadedObject) async throws(Failure) -> UploadedObject {
    guard let check, !check.asked.isEmpty else { return result }
    let (end, retries) = try await play(
      .inspect(result.evidence, of: 0), made: ReportedObject(size: result.size, versionID: result.versionID))
    var result = result
    result.evidence = try evidence(end)
    result.retries += retries
    return result
  }

  private func play(
    _ begun: Completion, _ receipts: [PartReceipt] = [], uploadID: String = "",
    made: ReportedObject = ReportedObject()
  ) async throws(Failure) -> (end: Completion.End, retries: Int) {
    var settings = RunSettings()
    settings.retry = retry
    settings.seed = UInt64(world.random() * 0x1p52)
    var scheduler = UploadMachine.Scheduler(settings, partSize: S3Limits.smallestPart)
    var completion = begun
    var retries = 0
    var step = completion.request(form: .nothing).map { Completion.Step.go([$0]) } ?? .misfit
    // One request at a time: every action except notices is answered before the next.
    while case .go(let actions) = step {
      step = .misfit
      for action in actions {
        if case .say(.retry) = action { retries += 1 }
        guard let answer = await answer(to: action, receipts, uploadID: uploadID, made: made) else { continue }
        scheduler.now = world.uptime()
        step = answer(&completion, &scheduler)
      }
      guard case .misfit = step, let until = scheduler.takeWakes().last else { continue }
      try? await world.sleep(max(.zero, until - world.uptime()))
      step = completion.request(form: .nothing).map { .go([$0]) } ?? .misfit
    }
    guard case .end(let end) = step else { throw Failure(.local, "the completion ended without a result") }
    return (end, retries)
  }

  private typealias Answer = (inout Completion, inout UploadMachine.Scheduler) -> Completion.Step

  private func answer(
    to action: UploadMachine.Action, _ receipts: [PartReceipt], uploadID: String, made: ReportedObject
  ) async -> Answer? {
    switch action {
    case .complete:
      do throws(Failure) {
        let judgement = try await finisher.complete(receipts, uploadID: uploadID)
        return { completion, _ in completion.answered(judgement) }
      } catch {
        return { $0.requestFailed(error, &$1) }
      }
    case .listAfterLoss:
      do throws(Failure) {
        let isThere = try await finisher.hasParts(uploadID)
        return { completion, _ in completion.asked(isThere: isThere) }
      } catch {
        return { $0.askFailed(error, &$1) }
      }
    case .head(let mustBeOurs):
      do throws(Failure) {
        let judgement = try await finisher.head(mustBeOurs: mustBeOurs)
        return { $0.headed(judgement, &$1) }
      } catch {
        return { $0.headFailed(error, &$1) }
      }
    case .inspect:
      guard let check else { return nil }
      do throws(Failure) {
        let inspection = try await check.run(made: made)
        if let warning = inspection.warning { world.log(0, warning) }
        return { completion, _ in completion.inspected(inspection) }
      } catch {
        return { $0.inspectFailed(error, &$1) }
      }
    case .say(.retry(_, let attempt, let wait, _, let message)):
      world.log(1, "complete: \(message); try \(attempt) of \(retry.tries) in \(wait.milliseconds) ms")
      return nil
    default: return nil
    }
  }

  private func evidence(_ end: Completion.End) throws(Failure) -> String {
    switch end {
    case .completed(let evidence, _), .inspected(let evidence): return evidence
    case .failed(let failure), .spoiled(let failure), .unshown(let failure), .lost(let failure),
      .unconfirmed(let failure), .unrecovered(let failure):
      throw failure
    case .anew, .missesPart, .recovered: throw Failure(.local, "the completion ended without a reason")
    }
  }
}
