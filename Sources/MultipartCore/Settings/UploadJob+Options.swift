import MultipartBasics

extension UploadJob {
  /// The upload to `key` of a store, from the caller's options, the profile and what earlier runs have learned.
  init(
    _ source: UploadSource, to key: String, of store: Store, _ options: UploadOptions, lessons: StoreLessons?
  ) throws(Failure) {
    let (settings, endpoint) = (store.settings, store.endpoint)
    try store.check(options)
    self.init(source: source, to: store.address(key, customerKey: options.customerKey))
    object = options.object
    typeIsGuessed = object.contentType == nil
    if typeIsGuessed { object.contentType = try ContentType.guess(source, key: key) }
    if options.notesTime, case .file(let file) = source { object.note(FileTime(file.identity)) }
    encryption = options.encryption
    conditions = options.conditions
    isDirectoryBucket = store.isDirectoryBucket
    expectsAbortDate = endpoint.isAWS && !isDirectoryBucket
    let transfer = settings.transfer
    partSize = options.partSize ?? source.size.flatMap { transfer.partSize(forFileOf: $0) }
    threshold = source.isStream || options.partSize != nil ? nil : transfer.threshold
    limitRate = transfer.limitRate
    line = (lessons?.line ?? .usual).bounded(by: limitRate)
    concurrency = transfer.concurrency
    pace = ConnectionBounds.pace(
      transfer, isStream: source.isStream, line: lessons?.line, descriptors: ConnectionBounds.descriptors)
    hedges = options.hedges
    retry = store.retry
    checksum = options.checksum
    if checksum == nil {
      remembered = lessons?.form
      if isDirectoryBucket, remembered == .md5 { remembered = nil }
    }
    verifies = options.verifies
    skipsExisting = options.skipsExisting
    // The store decides about an object that appears while this one is sent.
    if skipsExisting { conditions.ifNoneMatch = true }
    if options.skipsSame { sameness = SamenessQuestion(compares: true) }
    resume = options.resume
    abortsOnInterrupt = options.abortsWhenCancelled
    waitForOtherUpload = options.waitForOtherUpload
  }
}

extension ContentType {
  /// The content type by the name of the source or of the key, else by the first bytes, except for a stream, which has
  /// not been read yet.
  static func guess(_ source: UploadSource, key: String) throws(Failure) -> String {
    guard case .file(let file) = source else { return guess(name: key, leading: []) }
    let name = [file.path.name, key].first { knows($0) } ?? key
    return guess(name: name, leading: isDecided(by: name) ? [] : try file.leadingBytes(leadingLength))
  }
}

extension UploadOptions {
  /// Checks the file before anything is sent, so that a wrong one costs no transfer.
  func check(_ source: UploadSource) throws(Failure) {
    guard case .file(let file) = source else { return }
    let wanted = SourceExpectations(self)
    if let failure = wanted.failure("the file", of: file.size) { throw failure }
    guard wanted.sha256 != nil else { return }
    let sum = try PartSlice(file: file, offset: 0, length: file.size).checksums([.sha256])[.sha256]
    try file.checkUnchanged()
    if let failure = wanted.failure("the file", of: sum) { throw failure }
    if let sum { file.promise(sum) }
  }
}
