/// Unfinished uploads of somebody else at this key: what an earlier run on another machine left, or what somebody sends to
/// now. They are named, once, with the command that ends them, and never touched. The list comes in beside the parts, so
/// that no upload takes longer for it, and none fails by it.
extension Uploader {
  /// So long a run that is done waits for a list that went out when its first part did.
  private static let patience = Duration.seconds(1)

  func lookAround(except uploadID: String) {
    known.withLock { known in
      known.own.insert(uploadID)
      guard known.neighbours == nil, !known.lacksList else { return }
      known.neighbours = Task.begin { [self] in await nameNeighbours() }
    }
  }

  func endLookAround() async {
    guard let task = known.withLock({ $0.neighbours }) else { return }
    let end = Task.begin { [world] in
      _ = try? await world.sleep(Self.patience)
      task.cancel()
    }
    await task.value
    end.cancel()
  }

  private func nameNeighbours() async {
    do throws(Failure) {
      let listing = try await uploadsAtKey()
      let own = known.withLock { $0.own }
      let others = listing.uploads.filter { !own.contains($0.uploadID) }
        .sorted { ($0.initiated?.seconds ?? 0) < ($1.initiated?.seconds ?? 0) }
      guard let oldest = others.first else { return }
      let begun = oldest.initiated.map { ", begun \($0.iso8601)" } ?? ""
      var text: Wording =
        "an unfinished upload that is not this run's is at this key\(begun); when nobody needs it, end it: "
      text += "\(run: job.abort(oldest.uploadID))"
      if others.count > 1 || !listing.isComplete {
        text += "; and \(listing.isComplete ? "" : "at least ")\(others.count - 1) more: "
        text += "\(run: .listUploads(bucket: job.bucket, key: job.key))"
      }
      tell(.warning(text))
    } catch {
      world.log(1, "other unfinished uploads of this key could not be looked for: \(error.message)")
    }
  }
}
