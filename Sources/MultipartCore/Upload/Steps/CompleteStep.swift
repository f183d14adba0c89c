/// Completes an upload that somebody else filled: the single step of scripts. What goes wrong leaves it as it is.
package struct CompleteStep: Sendable {
  private let finisher: Finisher
  private let retry: RetryPolicy
  private let world: World

  package init(finisher: Finisher, retry: RetryPolicy, world: World) {
    self.finisher = finisher
    self.retry = retry
    self.world = world
  }

  package func run(_ receipts: [PartReceipt], uploadID: String) async throws(Failure) -> UploadResult {
    var settings = UploadMachine.Settings(
      plan: try UploadPlan(size: 0), retry: retry, seed: UInt64(world.random() * 0x1p52))
    settings.keepsUpload = true
    var machine = UploadMachine(completing: uploadID, receipts: receipts, settings)
    var actions = machine.handle(.start, at: world.uptime())
    // One request at a time: each action but the notices is answered before the next.
    while !actions.isEmpty {
      let action = actions.removeFirst()
      if case .finish(let outcome) = action { return try result(outcome, machine) }
      if let event = await event(of: action, receipts, uploadID: uploadID) {
        actions += machine.handle(event, at: world.uptime())
      }
    }
    throw Failure(.local, "the completion ended without a result")
  }

  private func event(
    of action: UploadMachine.Action, _ receipts: [PartReceipt], uploadID: String
  ) async -> UploadMachine.Event? {
    switch action {
    case .complete:
      do throws(Failure) {
        return .completeDone(try await finisher.complete(receipts, uploadID: uploadID))
      } catch {
        return .completeFailed(error)
      }
    case .listAfterLoss:
      do throws(Failure) {
        return .listed(uploadStillThere: try await finisher.hasUpload(uploadID))
      } catch {
        return .listFailed(error)
      }
    case .head(let mustBeOurs):
      do throws(Failure) {
        return .headDone(try await finisher.head(mustBeOurs: mustBeOurs))
      } catch {
        return .headFailed(error)
      }
    case .wait(let until):
      try? await world.sleep(max(.zero, until - world.uptime()))
      return .tick
    case .say(.retry(_, let attempt, _, let message, let wait)):
      world.log(1, "complete: \(message); try \(attempt) of \(retry.tries) in \(wait.milliseconds) ms")
      return nil
    default: return nil
    }
  }

  private func result(_ outcome: UploadMachine.Outcome, _ machine: UploadMachine) throws(Failure) -> UploadResult {
    guard case .completed(let evidence) = outcome else {
      throw machine.cause ?? Failure(.local, "the completion ended without a reason")
    }
    return UploadResult(
      size: finisher.expected?.size ?? 0, parts: machine.receipts.count, object: finisher.known,
      sum: finisher.expected?.sum, evidence: evidence, bytesSent: 0, retries: machine.retries)
  }
}
