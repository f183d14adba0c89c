import MultipartBasics

/// Refuses an endpoint URL that already contains the bucket: there the bucket's name in the path would become the
/// beginning of the key, and the object would get a wrong key.
extension Placement {
  /// With path addressing the caller asserts that the store's own name only looks like that.
  func checkDoubled() throws(Failure) {
    guard let url, options.addressing != .path || options.addressingIsWish else { return }
    try checkPath(url)
    if !url.isAddress { try checkHost(url) }
  }

  private func checkHost(_ url: EndpointURL) throws(Failure) {
    let labels = url.host.words(between: ".").map(String.init)
    let own = bucket.lowercased().words(between: ".").map(String.init)
    let rest = Array(labels.dropFirst(own.count))
    // PrivateLink's host names begin with the word bucket, whatever the bucket is called.
    guard !own.isEmpty, !rest.isEmpty, labels.starts(with: own), rest.first?.begins(with: "vpce-") != true else {
      return try checkOther(url)
    }
    throw doubled("has the bucket \(SafeText.oneLine(bucket)) in its host", url, host: rest, path: url.path)
  }

  /// Checks hosts such as `https://other.s3.eu-west-1.amazonaws.com`.
  private func checkOther(_ url: EndpointURL) throws(Failure) {
    guard let parts = AWSHost(url.host), let bucket = parts.bucket else { return }
    throw doubled("has the bucket \(bucket) in its host", url, host: [parts.service], path: url.path)
  }

  private func checkPath(_ url: EndpointURL) throws(Failure) {
    let names = url.path.words(between: "/").map(String.init)
    let own = [bucket, PercentEncoding.query(bucket)]
    guard let place = [names.count - 1, 0].first(where: { names.indices.contains($0) && own.contains(names[$0]) })
    else { return }
    let host = url.host.words(between: ".").map(String.init)
    let path = names[..<place].map { "/" + $0 }.joined()
    throw doubled("has the bucket \(SafeText.oneLine(bucket)) in its path", url, host: host, path: path)
  }

  private func doubled(_ what: String, _ url: EndpointURL, host: [String], path: String) -> Failure {
    let port = url.port.map { ":\($0)" } ?? ""
    let way = "\(url.scheme.rawValue)://\(host.joined(separator: "."))\(port)\(path)"
    return Failure(
      .configuration, "the endpoint URL \(what), and s3://BUCKET/KEY already names the bucket",
      remedy: "write \(.endpoint, way), or add \(.addressing, "path") if the store's own address looks like that")
  }
}
