extension Store {
  /// Checks everything that an upload needs: credentials, region, endpoint, proxy, TLS, clock, permissions, what aborts
  /// unfinished uploads, and the state folder. It begins an upload below the prefix, sends a small part and aborts it, so
  /// that nothing is published. Each question has a time limit.
  ///
  ///     for finding in try await Store.examine(options, bucket: "my-bucket") where finding.mark != .ok {
  ///       print(finding.text, finding.remedy ?? "")
  ///     }
  ///
  /// This needs no open store, because opening one fails for what is to be found out. Cancelling the task aborts the
  /// upload that was begun; the findings until then are returned.
  ///
  /// - Parameters:
  ///   - options: How to reach the store.
  ///   - bucket: The bucket; without one, no signed request is sent to the store.
  ///   - prefix: What the keys of uploads begin with. It is asked for together with the credentials, because it may
  ///     depend on whose they are.
  /// - Throws: only if the options contradict each other; whatever else fails is a finding.
  public static func examine(
    _ options: StoreOptions = StoreOptions(), bucket: String? = nil,
    below prefix: @escaping @Sendable () async throws(Failure) -> String = { "" }
  ) async throws(Failure) -> [StoreFinding] {
    let rounds = ExaminationRounds(options, bucket: bucket, prefix)
    return try await rounds.examine().findings.map { $0.masked(by: rounds.world.secrets) }
  }
}
