extension Store {
  /// Checks that this store can carry out the options, without a request. Each upload to a store begins with it; a
  /// caller that has to prepare something, such as starting the program whose output is uploaded, can ask before.
  public func check(_ options: UploadOptions) throws(Failure) {
    try checkKey(options.customerKey)
    try options.conditions.check()
    guard isDirectoryBucket else { return }
    // S3 Express would silently ignore some of these, and refuse the others only at the end.
    let object = options.object
    let missing: [(isAsked: Bool, what: Wording, setting: Setting)] = [
      (options.customerKey != nil, "no SSE-C", .customerKey), (!object.tags.isEmpty, "no tags", .tags),
      (object.acl != nil, "no ACLs", .accessControl), (!object.grants.isEmpty, "no ACLs", .grants),
      (object.lockMode != nil, "no Object Lock", .objectLockMode),
      (object.retainUntil != nil, "no Object Lock", .retainUntil),
      (object.legalHold != nil, "no Object Lock", .legalHold),
      (object.websiteRedirect != nil, "no websites", .websiteRedirect),
      (self.options.requestPayer, "no requester pays", .requestPayer),
      (options.checksum == .md5, "no MD5", .checksum),
      (
        object.storageClass.map { $0.uppercased() != "EXPRESS_ONEZONE" } ?? false,
        "the storage class EXPRESS_ONEZONE alone", .storageClass
      ),
    ]
    guard let first = missing.first(where: \.isAsked) else { return }
    throw Failure(
      .usage, "directory buckets have \(first.what)",
      remedy: first.setting == .checksum
        ? "use another checksum, such as \(.checksum, "crc64nvme")" : "leave \(first.setting) out wherever it is set")
  }

  /// Checks that the caller's own key is only sent where it cannot be read on the way: over TLS, or to this machine
  /// itself.
  func checkKey(_ key: CustomerKey?) throws(Failure) {
    guard key != nil, endpoint.origin.scheme != .https, !endpoint.origin.isLoopback, options.verifiesTLS else { return }
    throw Failure(
      .usage, "an SSE-C key is not sent over plain HTTP",
      remedy: "use an https endpoint, or \(off: .verifiesTLS) if the line is safe by other means")
  }
}
