import MultipartBasics

/// What an upload shows about its store and the line to it.
extension Uploader {
  /// Remembers a checksum that the store does not verify. If the payload is signed, this is CRC64NVME; whether MD5
  /// would be verified is unknown.
  ///
  /// Kept only if the upload succeeds: a store that refuses something else without naming it ("a header you sent is not
  /// implemented") refuses each weaker checksum in turn, and must not be believed to verify none.
  func learn(_ from: ChecksumForm, _ to: ChecksumForm) {
    guard memory != nil, job.checksum == nil else { return }
    state.withLock { $0.lesson = from == .md5 ? to : ChecksumForm.md5 }
  }

  /// Reports that the store ignores a checksum that was requested by name, which is never stepped down.
  func sayUnverified(_ proof: PartProof) {
    guard let text = job.unverified(proof) else { return }
    let isFirst = state.withLock { state in
      defer { state.hasSaidUnverified = true }
      return !state.hasSaidUnverified
    }
    if isFirst { tell(.warning(text)) }
  }

  func remember() {
    if let line { remember(.line(line)) }
    if let form = state.withLock({ $0.lesson }) { remember(.verifies(form)) }
  }

  /// Remembers buffering also from an interrupted run: otherwise the next one would again send too many parts at once.
  func rememberBuffers() {
    if run.lineBuffers, let line { remember(.line(line)) }
  }

  /// What is new about the line. Less than 256 MiB and five seconds show nothing, nor does a limited rate. The time
  /// that the store takes to assemble the object does not count.
  private var line: LineClass? {
    guard let memory, job.limitRate == nil, run.isOfOne, case .file = job.source, let (from, to) = run.sending else {
      return nil
    }
    let took = (to - from).seconds
    let sent = progress.bytesSent
    guard took > 0, sent >= 256 << 20 || took >= 5 else { return nil }
    let rate = max(Double(sent) / took, run.bestRate)
    if run.lineBuffers { return .buffered }
    let line = run.lineIsLossy ? .lossy : LineClass(bytesPerSecond: rate)
    // The fact that it is lossy expires after a day, so it is always recorded anew.
    return line != .lossy && line == memory.lessons(of: client.signer.origin, now: world.now()).line ? nil : line
  }

  func remember(_ lesson: StoreLesson) {
    if case .line(let line) = lesson { world.timeline?.learned("the line is \(line.rawValue)") }
    do throws(Failure) {
      try memory?.remember(lesson, of: client.signer.origin, now: world.now())
    } catch {
      world.log(1, "what was learned about the store cannot be stored: \(error.message)")
    }
  }
}
