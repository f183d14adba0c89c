/// What an upload teaches about its store and the line to it.
extension Uploader {
  /// Where the payload is signed, what was refused or not verified is CRC64NVME; whether MD5 would be is not known.
  ///
  /// Kept only when the upload succeeds: a store that refuses something else in words that name nothing ("a header you
  /// sent is not implemented") refuses each lesser checksum in turn, and must not be believed to verify none.
  func learn(_ from: ChecksumForm, _ to: ChecksumForm) {
    guard memory != nil, job.checksum == nil else { return }
    lesson.withLock { $0 = from == .md5 ? to : ChecksumForm.md5 }
  }

  /// A checksum that was asked for by name is never stepped down from; where the store passes it over, that is said.
  func sayUnverified(_ proof: PartProof) {
    guard let text = job.unverified(proof) else { return }
    let isFirst = isUnverifiedSaid.withLock { said in
      defer { said = true }
      return !said
    }
    if isFirst { tell(.warning(text)) }
  }

  func remember() {
    if let line { remember(.line(line)) }
    if let form = lesson.withLock({ $0 }) { remember(.verifies(form)) }
  }

  /// What is new about the line. Less than 256 MiB and five seconds tell nothing, nor does a rate that is held down. The
  /// store's own time to put the object together is not the line's.
  private var line: LineClass? {
    guard let memory, job.limitRate == nil, case .file = job.source, let (from, to) = sending.withLock({ $0 }) else {
      return nil
    }
    let took = (to - from).seconds
    let sent = progress.bytesSent
    guard took > 0, sent >= 256 << 20 || took >= 5 else { return nil }
    let line = LineClass(bytesPerSecond: Double(sent) / took)
    return line == memory.lessons(of: client.signer.origin, now: world.now()).line ? nil : line
  }

  func remember(_ lesson: StoreLesson) {
    do throws(Failure) {
      try memory?.remember(lesson, of: client.signer.origin, now: world.now())
    } catch {
      world.log(1, "what was learnt of the store cannot be kept: \(error.message)")
    }
  }
}
