import MultipartBasics

/// Unfinished uploads of other clients at this key: left by an earlier run on another machine, or being sent to now.
/// They are named once, with the command that aborts them, and never touched. The list arrives while parts are sent, so
/// that it neither delays an upload nor makes it fail.
extension Uploader {
  /// How long a finished run waits for a list that was requested with its first part.
  private static let patience = Duration.seconds(1)

  /// How to continue the other upload: as long as this run's upload exists, it is the one that is resumed.
  private static let wayOn: Wording =
    "; to continue that one instead, stop this run, abort the upload that it began, and run it again with \(.resume, "adopt")"

  func lookAround(except uploadID: String) {
    state.withLock { state in
      state.own.insert(uploadID)
      guard state.neighbours == nil, !state.lacksList, job.ticket == nil else { return }
      state.neighbours = Task { [self] in await nameNeighbours() }
    }
  }

  func endLookAround() async {
    guard let task = state.withLock({ $0.neighbours }) else { return }
    let end = Task { [world] in
      _ = try? await world.sleep(Self.patience)
      task.cancel()
    }
    await task.value
    end.cancel()
  }

  private func nameNeighbours() async {
    do throws(Failure) {
      let listing = try await uploadsAtKey(aside: true)
      let own = state.withLock { $0.own }
      let others = listing.uploads.filter { !own.contains($0.uploadID) }
        .sorted { ($0.initiated?.seconds ?? 0) < ($1.initiated?.seconds ?? 0) }
      guard let oldest = others.first else { return }
      for other in others {
        guard let address = journal?.otherAddress(of: other.uploadID) else { continue }
        return tell(
          .warning(
            "this machine has begun upload \(other.uploadID) of this key at another address of this store, \(address)"
              + Self.wayOn))
      }
      let begun = oldest.initiated.map { ", begun \($0.iso8601)" } ?? ""
      var text: Wording =
        "there is an unfinished upload of this key that this run did not begin\(begun)"
      // With `adopt` it was examined, and cannot be continued.
      if job.resume != .adopt, job.asksForNothingUnseen, !job.source.isStream { text += Self.wayOn }
      text += "; if nothing is sending to it, abort it: "
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
