/// Completes an upload whose parts somebody else sent: the single step of scripts. A failure leaves it as it is.
struct CompleteStep: Sendable {
  private let finisher: Finisher
  private let retry: RetryPolicy
  private let world: World

  init(finisher: Finisher, retry: RetryPolicy, world: World) {
    self.finisher = finisher
    self.retry = retry
    self.world = world
  }

  func run(_ receipts: [PartReceipt], uploadID: String) async throws(Failure) -> UploadResult {
    var settings = RunSettings()
    settings.retry = retry
    settings.seed = UInt64(world.random() * 0x1p52)
    var scheduler = UploadMachine.Scheduler(settings, partSize: S3Limits.smallestPart)
    var completion = Completion.complete(of: 0, Completion.Ways())
    var retries = 0
    var step = Completion.Step.go([.complete(attempt: 1)])
    // One request at a time: every action except notices is answered before the next.
    while case .go(let actions) = step {
      step = .misfit
      for action in actions {
        if case .say(.retry) = action { retries += 1 }
        guard let answer = await answer(to: action, receipts, uploadID: uploadID) else { continue }
        scheduler.now = world.uptime()
        step = answer(&completion, &scheduler)
      }
      guard case .misfit = step, let until = scheduler.takeWakes().last else { continue }
      try? await world.sleep(max(.zero, until - world.uptime()))
      step = completion.request(form: .none).map { .go([$0]) } ?? .misfit
    }
    guard case .end(let end) = step else { throw Failure(.local, "the completion ended without a result") }
    return UploadResult(
      size: finisher.expected?.size ?? 0, parts: receipts.count, object: finisher.known,
      sum: finisher.expected?.sum, evidence: try evidence(end), bytesSent: 0, retries: retries)
  }

  private typealias Answer = (inout Completion, inout UploadMachine.Scheduler) -> Completion.Step

  private func answer(
    to action: UploadMachine.Action, _ receipts: [PartReceipt], uploadID: String
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
        let isThere = try await finisher.hasUpload(uploadID)
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
    case .say(.retry(_, let attempt, _, let message, let wait)):
      world.log(1, "complete: \(message); try \(attempt) of \(retry.tries) in \(wait.milliseconds) ms")
      return nil
    default: return nil
    }
  }

  private func evidence(_ end: Completion.End) throws(Failure) -> String {
    switch end {
    case .completed(let evidence, _), .inspected(let evidence): return evidence
    case .failed(let failure), .spoiled(let failure), .unshown(let failure), .lost(let failure),
      .unconfirmed(let failure):
      throw failure
    case .anew, .missesPart, .recovered: throw Failure(.local, "the completion ended without a reason")
    }
  }
}
