extension Uploader {
  /// The tasks of the requests that are out. Parts can be cancelled one by one; the rest only at the end.
  struct Tasks {
    var parts: [Int: Task<Void, Never>] = [:]
    /// Second copies of slow parts.
    var copies: [Int: Task<Void, Never>] = [:]
    private var half: Set<Int> = []
    var comparisons: [Int: Task<Void, Never>] = [:]
    private var others: [Task<Void, Never>] = []

    mutating func add(_ task: Task<Void, Never>) {
      if others.count >= 64 { others.removeFirst(32) }
      others.append(task)
    }

    mutating func forget(_ event: UploadMachine.Event) {
      switch event {
      case .partDone(let receipt): answered(receipt.number)
      case .partFailed(let number, _): answered(number)
      case .putDone, .putFailed: parts[0] = nil
      case .piece, .ended, .readFailed: parts[-1] = nil
      case .partVerified(let receipt): comparisons[receipt.number] = nil
      case .partRejected(let number), .verifyFailed(let number, _): comparisons[number] = nil
      default: break
      }
    }

    /// Which of two copies answered is not known: both are held until both have.
    private mutating func answered(_ part: Int) {
      if copies[part] != nil, half.insert(part).inserted { return }
      parts[part] = nil
      copies[part] = nil
      half.remove(part)
    }

    func cancel(_ part: Int, unless isSent: (UploadProgress.Transfer) -> Bool) {
      if !isSent(UploadProgress.Transfer(part: part)) { parts[part]?.cancel() }
      if !isSent(UploadProgress.Transfer(part: part, isCopy: true)) { copies[part]?.cancel() }
    }

    func cancelTransfers() {
      for task in parts.values { task.cancel() }
      for task in copies.values { task.cancel() }
      for task in comparisons.values { task.cancel() }
    }

    func cancelAll() {
      cancelTransfers()
      for task in others { task.cancel() }
    }
  }
}
