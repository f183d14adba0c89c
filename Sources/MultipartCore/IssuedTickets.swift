/// What tickets were issued for the files of many sources.
public struct IssuedTickets: Sendable {
  /// How many tickets there are.
  public let count: Int
  /// How many bytes their files have in total.
  public let bytes: Int64
  /// When the first of them expires; nil if there is none.
  public let expires: Timestamp?
}

extension Store {
  /// Issues a ticket for each file that the sources find, several at a time; `write` receives each as it is signed, and
  /// `publish` is called once all are. If one cannot be issued or written, or the calling task is cancelled, all
  /// uploads that were begun are aborted.
  public func issueTickets(
    _ sources: BatchSources, for lifetime: Duration, _ options: UploadOptions = UploadOptions(),
    onSkip: @escaping @Sendable (SkippedSource) -> Void = { _ in },
    write: @escaping @Sendable (Ticket) throws(Failure) -> Void, publish: () throws(Failure) -> Void = {}
  ) async throws(Failure) -> IssuedTickets {
    let issuer = TicketIssuer(self, lifetime, options, write)
    var outputs = RunOutputs()
    outputs.stateFolder = self.options.stateFolder(world.environment)
    await withTaskCancellationHandler {
      do {
        try await sources.find(in: bucket, besides: outputs) { [world] step in
          switch step {
          case .candidate(let candidate): _ = await issuer.begin(candidate.item)
          case .skipped(let source): onSkip(source)
          case .failed(let failure, _): issuer.fail(failure)
          case .leftOut: break
          case .advice(let text): world.log(0, text)
          }
          return issuer.failure == nil
        } listing: {
          nil
        }
      } catch {
        issuer.fail(error as? Failure ?? Failure(.sourceMissing, "the sources could not be read: \(error)"))
      }
      await issuer.wait()
    } onCancel: {
      issuer.stop()
    }
    return try await issuer.finish(publish)
  }
}
