import MultipartBasics
@testable import MultipartCore

/// Changes the store as the request did, and returns the event for the machine.
typealias Answer = (inout MachinePlay) -> UploadMachine.Event

extension UploadMachine.Action {
  var answers: (good: [Answer], bad: [Answer]) {
    isCancelled ? (cancelledAnswers, []) : (good.map { [$0] } ?? [], bad)
  }

  private static func good(_ action: Self) -> Answer { action.good ?? { _ in .abortDone } }

  private var good: Answer? {
    switch self {
    case .check: { _ in .checked(nil) }
    case .create:
      { play in
        play.created += 1
        play.uploads.insert("id\(play.created)")
        return .created(uploadID: "id\(play.created)")
      }
    case .send(let part, let form, _, _):
      { play in
        guard let id = play.machine.uploadID, play.uploads.contains(id) else {
          return .partFailed(part, Failure(.uploadGone, "gone"))
        }
        play.parts[id, default: []].insert(part)
        return .partDone(MachinePlay.receipt(part, form, play.settings.plan))
      }
    case .put:
      { play in
        play.object = .ours
        return .putDone(.proven(evidence: "e"))
      }
    case .complete:
      { play in
        guard play.finishUpload() else { return .completeFailed(Failure(.uploadGone, "gone")) }
        return .completeDone(.proven(evidence: "e"))
      }
    case .head(let mustBeOurs):
      { play in
        switch play.object {
        case .none: .headDone(.absent)
        case .ours: .headDone(.proven(evidence: "e"))
        case .older: .headDone(mustBeOurs ? .notOurs(message: "older") : .proven(evidence: "e"))
        }
      }
    case .inspect:
      { play in
        play.isInspected = true
        return .inspected(.kept(unconfirmed: [], why: nil))
      }
    case .abort(let id):
      { play in
        guard play.uploads.remove(id) != nil else {
          return .abortFailed(Failure(.uploadGone, "gone"))
        }
        return .abortDone
      }
    case .listAfterAbort(let id): { play in .listed(uploadStillThere: play.uploads.contains(id)) }
    case .listAfterLoss:
      { play in
        .listed(uploadStillThere: play.machine.uploadID.map { play.uploads.contains($0) } ?? false)
      }
    case .find:
      { play in
        .found(play.left.map { UploadMachine.Candidate(uploadID: $0, use: play.leftIsOwn ? .own : .foreign) })
      }
    case .listParts(let id):
      { play in
        guard play.uploads.contains(id) else { return .partsListFailed(Failure(.uploadGone, "gone")) }
        let sizes = (play.parts[id] ?? []).map { ($0, play.settings.plan.range(of: $0).length) }
        let traces = (play.parts[id] ?? []).map { ($0, "\(play.touchedAt)") }
        return .partsListed(
          UploadMachine.PartList(
            sizes: Dictionary(uniqueKeysWithValues: sizes), form: play.settings.form,
            activity: UploadMachine.Activity(
              traces: Dictionary(uniqueKeysWithValues: traces), last: Timestamp(seconds: play.touchedAt),
              clock: play.clock)))
      }
    case .verify(let part):
      { play in
        .partVerified(MachinePlay.receipt(part, play.settings.form, play.settings.plan))
      }
    case .cancelTransfers, .cancelParts, .release, .say, .finish, .adopt, .read, .confirm, .sendCopy, .cancelPart,
      .takeBack:
      nil
    }
  }

  private var bad: [Answer] {
    let passing = [Failure(.network, "reset"), Failure(.throttled, "slow down")]
    let final = Failure(.refused, "no")
    switch self {
    case .check:
      return [
        { _ in .checked(Failure(.precondition, "is there")) }, { _ in .checked(passing[0]) },
        { _ in .same(evidence: "size and checksum") },
      ]
    case .create:
      return [
        { _ in .createFailed(passing[0]) }, { _ in .createFailed(final) },
        // The store has created it, and the answer is lost.
        { play in
          play.created += 1
          play.uploads.insert("id\(play.created)")
          play.lost.insert("id\(play.created)")
          return .createFailed(passing[0])
        },
        { _ in .createFailed(Failure(.checksumUnsupported, "no checksum")) },
      ]
    case .send(let part, let form, _, _):
      return [
        { _ in .partFailed(part, passing[0]) }, { _ in .partFailed(part, passing[1]) },
        { _ in .partFailed(part, Failure(.sourceChanged, "rewritten")) },
        { _ in .partFailed(part, Failure(.checksumUnsupported, "no checksum")) },
        { play in
          if let id = play.machine.uploadID { play.uploads.remove(id) }
          return .partFailed(part, Failure(.uploadGone, "gone"))
        },
        { play in .partDone(MachinePlay.receipt(part, form, play.settings.plan, proof: .none)) },
      ]
    case .put:
      return [
        { _ in .putFailed(passing[0]) }, { _ in .putFailed(final) },
        { play in
          play.object = .ours
          return .putFailed(passing[0])
        },
        { _ in .putFailed(Failure(.checksumUnsupported, "no checksum")) },
      ]
    case .complete:
      return [
        // The answer is lost before the store did anything, or after.
        { _ in .completeFailed(passing[0]) },
        { play in
          _ = play.finishUpload()
          return .completeFailed(passing[0])
        },
        { play in play.finishUpload() ? .completeDone(.undecided(weak: "w")) : .completeFailed(final) },
        { _ in .completeFailed(final) }, { _ in .completeFailed(Failure(.precondition, "is there")) },
        // The complete is refused, or refused because of a part.
        { _ in .completeFailed(passing[1]) },
        { _ in .completeFailed(Failure(.refused, "InvalidPart", s3Code: "InvalidPart")) },
      ]
    case .head:
      return [
        { _ in .headFailed(passing[0]) }, { _ in .headFailed(final) },
        { play in play.object == .ours ? .headDone(.undecided(weak: "w")) : .headFailed(passing[1]) },
        // The store does not show at once what it has created.
        { _ in .headDone(.absent) },
      ]
    case .inspect: return [{ _ in .inspectFailed(passing[0]) }, { _ in .inspected(.lost(final)) }]
    case .abort:
      return [
        { _ in .abortFailed(passing[0]) },
        // The store reports success, and the upload still exists.
        { _ in .abortDone },
      ]
    case .listAfterAbort: return [{ _ in .listFailed(passing[0]) }]
    case .listAfterLoss:
      return [{ _ in .listFailed(passing[0]) }, { _ in .listFailed(Failure(.credentials, "AccessDenied")) }]
    case .find:
      // A record is read from disk; only the list of the store's uploads can fail, and then nothing is known about
      // them.
      return [
        { play in play.leftIsOwn ? Self.good(.find)(&play) : .findFailed(passing[0]) },
        { play in play.leftIsOwn ? Self.good(.find)(&play) : .findFailed(Failure(.credentials, "AccessDenied")) },
      ]
    case .listParts(let id):
      return [
        { _ in .partsListFailed(passing[0]) },
        { play in
          play.uploads.remove(id)
          play.left = []
          return .partsListFailed(Failure(.uploadGone, "gone"))
        },
        // Another client has sent a part again by now.
        { play in
          play.touchedAt = play.clock.seconds
          return Self.good(.listParts(uploadID: id))(&play)
        },
        { _ in .partsListed(UploadMachine.PartList(sizes: [1: 17], form: .md5)) },
      ]
    case .verify(let part):
      return [
        { _ in .partRejected(part) }, { _ in .verifyFailed(part, Failure(.sourceChanged, "rewritten")) },
      ]
    case .cancelTransfers, .cancelParts, .release, .say, .finish, .adopt, .read, .confirm, .sendCopy, .cancelPart,
      .takeBack:
      return []
    }
  }

  /// A transfer that was told to stop may have arrived nevertheless.
  private var cancelledAnswers: [Answer] {
    let stopped = Failure(.interrupted, "stopped")
    switch self {
    case .send(let part, let form, _, _):
      return [
        { _ in .partFailed(part, stopped) },
        { play in .partDone(MachinePlay.receipt(part, form, play.settings.plan)) },
      ]
    case .put:
      return [
        { _ in .putFailed(stopped) },
        { play in
          play.object = .ours
          return .putDone(.proven(evidence: "e"))
        },
      ]
    default: return []
    }
  }
}

extension MachinePlay {
  static func receipt(
    _ part: Int, _ form: ChecksumForm, _ plan: UploadPlan, proof: PartProof = .checksum
  ) -> PartReceipt {
    var sum: Checksum?
    if case .algorithm(let algorithm) = form {
      sum = Checksum(algorithm, bytes: Array(repeating: 7, count: algorithm.digestLength))
    }
    return PartReceipt(
      number: part, size: plan.range(of: part).length, etag: "\"e\(part)\"", checksum: sum, proof: proof)
  }

  /// The store assembles the object if the upload exists and every part of it has arrived.
  mutating func finishUpload() -> Bool {
    guard let id = machine.uploadID, uploads.contains(id) else { return false }
    if machine.receipts.contains(where: { $0 == nil }) { mistakes.append("complete before every part was there") }
    uploads.remove(id)
    object = .ours
    return true
  }
}
