import MultipartBasics

extension HeadObject {
  private static let longestLook = Duration.seconds(5)

  /// The failure if there is no object, of which a HEAD's answer says nothing more. A list, if it is allowed, shows
  /// whether there is the bucket, and whether the key was meant as a folder; then `ofFolder` is the remedy.
  func absence(_ client: S3Client, _ world: World, ofFolder remedy: Wording) async -> Failure {
    guard versionID == nil, !address.key.ends(with: "/") else { return Self.noObject }
    let below = ListObjects(address.inBucket, prefix: address.key + "/", most: 1)
    let page = await world.within(Self.longestLook, "the keys below were not listed") { () async throws(Failure) in
      try await client.perform(below)
    }
    switch page {
    case .failure(let failure): return failure.s3Code == "NoSuchBucket" ? failure : Self.noObject
    case .success(let list):
      guard !list.objects.isEmpty else { return Self.noObject }
      return Failure(.refused, "there is no object at the key, but there are keys below it", remedy: remedy)
    }
  }
}

extension Store {
  /// The failure for an object that does not exist: it says if there is not even the bucket, or if the key was meant as
  /// a folder.
  public func absence(of key: String, versionID: String? = nil) async -> Failure {
    await HeadObject(address(key), versionID: versionID)
      .absence(client, world, ofFolder: "\(run: .listObjects) shows what is there")
  }
}
