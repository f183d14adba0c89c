import MultipartBasics

/// Checks a source for the last time before it is published. If a file was touched, its bytes are compared.
extension Uploader {
  /// Throws if the source is no longer what its parts were made of.
  func confirmSource(_ receipts: [PartReceipt]) throws(Failure) {
    let file: SourceFile
    switch job.source {
    case .stream(let stream): return try stream.requireWhole(receipts.reduce(0) { $0 + $1.size })
    case .file(let source): file = source
    }
    let isStopped = { @Sendable [progress] in progress.isStopped || Task.isCancelled }
    // The parts are sent in parallel, which is not the order for a SHA-256 of the whole file.
    if job.wantsSHA256, sha256 == nil,
      let sum = try PartSlice(file: file, offset: 0, length: file.size).checksums([.sha256], unless: isStopped)[.sha256]
    {
      file.promise(sum)
      state.withLock { $0.sha256 = sum }
    }
    try file.confirm(unless: isStopped) { () throws(Failure) in
      world.log(1, SourceTouch.notice)
      for receipt in receipts {
        guard let slice = try body(of: receipt.number) as? PartSlice,
          try slice.isStill(receipt, etagMayBeMD5: job.etagMayBeMD5, unless: isStopped)
        else { return false }
      }
      return true
    }
  }
}

enum SourceTouch {
  static let notice: Wording = "the file was touched while it was sent: comparing its bytes again"
}

extension PartSlice {
  /// Whether the bytes still match the receipt. Throws if the receipt has nothing to compare them with.
  func isStill(
    _ receipt: PartReceipt, etagMayBeMD5: Bool, unless isStopped: () -> Bool
  ) throws(Failure) -> Bool {
    guard receipt.size == length else { return false }
    guard let sum = receipt.sum(etagMayBeMD5: etagMayBeMD5) else {
      var failure = file.changed("was touched")
      failure.remedy = "it was sent without a checksum to compare with: with a checksum, chmod and link are harmless"
      throw failure
    }
    return try checksums([sum.algorithm], unless: isStopped)[sum.algorithm] == sum
  }
}

extension PartReceipt {
  /// What to compare the part's bytes with: a checksum that was computed from them, else the ETag if it may be an MD5.
  fileprivate func sum(etagMayBeMD5: Bool) -> Checksum? {
    if let sum = localSum ?? checksum { return sum }
    guard etagMayBeMD5, case .md5(let md5)? = ETag(etag)?.form else { return nil }
    return Checksum(.md5, bytes: md5)
  }
}

/// A file that is sent in a single request, whose answer publishes it: its last bytes are returned only if the file has
/// not changed since its checksum was computed. If that must be computed again, the loop's thread does so; no other
/// transfer has to wait for it.
struct HeldSlice: PartBody {
  let slice: PartSlice
  let sums: [ChecksumAlgorithm: Checksum]
  let world: World
  let isStopped: @Sendable () -> Bool

  var length: Int64 { slice.length }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
    let count = try slice.read(into: buffer, at: offset)
    if offset + Int64(count) == length { try confirm() }
    return count
  }

  func confirm() throws(Failure) {
    try slice.file.confirm(unless: isStopped) { () throws(Failure) in
      world.log(1, SourceTouch.notice)
      guard let (algorithm, sum) = sums.first else {
        return try slice.isStill(
          PartReceipt(number: 1, size: length, etag: "", proof: .none), etagMayBeMD5: false, unless: isStopped)
      }
      return try slice.checksums([algorithm], unless: isStopped)[algorithm] == sum
    }
  }

  func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    try slice.checksums(algorithms, unless: isStopped)
  }

  func checkSource() throws(Failure) { try slice.checkSource() }
}
