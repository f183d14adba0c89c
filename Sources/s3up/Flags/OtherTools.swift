/// Options of other tools that people type: aws, s5cmd, rclone, s3cmd, mc, curl; each with s3up's counterpart.
enum OtherTools {
  enum Ours: Sendable, Equatable {
    /// The option, with the value to give it if theirs has none or another.
    case option(FlagName, String? = nil)
    /// A sentence, if there is no such option.
    case way(String)

    var text: String {
      switch self {
      case .option(let name, let value): "s3up calls it --\(name.rawValue)" + (value.map { " " + $0 } ?? "")
      case .way(let sentence): sentence
      }
    }
  }

  static func long(_ name: String) -> Ours? {
    let name = String(decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    for (ours, theirs) in table where theirs.split(separator: " ").contains(Substring(name)) { return ours }
    return nil
  }

  static func short(_ letter: Character) -> Ours? { letters[letter] }

  static let keys = "keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --profile, never from an option"
  static let nothingDeleted =
    "s3up deletes nothing at the store, which one wrong path would empty; aws s3 sync --delete or rclone sync does"

  static let table: [(ours: Ours, theirs: String)] = [
    (.option(.insecure), "no-verify-ssl no-check-certificate skip-ssl-validation no-check-ssl"),
    (.option(.caBundle, "FILE"), "cacert ca-cert ca-certs ca-certificate ca-file"),
    (.option(.endpointURL, "URL"), "endpoint host s3-endpoint s3-endpoint-url server"),
    (.option(.addressing, "path"), "path-style force-path-style s3-force-path-style"),
    (.option(.region, "REGION"), "bucket-location s3-region location"),
    (.option(.noSignRequest), "anonymous no-auth"),
    (.way(keys), "access-key secret-key s3-access-key-id s3-secret-access-key session-token access-token user-key"),
    (.option(.sseCKeyFile, "FILE"), "sse-c sse-c-key sse-customer-key s3-sse-customer-key enc-c encrypt-key"),
    (
      .option(.sse, "AES256 or aws:kms"),
      "server-side-encryption s3-server-side-encryption encrypt enc-s3 enc-kms server-side-encryption-algorithm"
    ),
    (.option(.sseKMSKeyID, "ID"), "server-side-encryption-kms-id kms-key s3-sse-kms-key-id ssekms-key-id kms-key-id"),
    (.option(.acl, "public-read"), "acl-public"),
    (.option(.acl, "private"), "acl-private"),
    (.option(.acl, "ACL"), "s3-acl canned-acl"),
    (.option(.storageClass, "CLASS"), "s3-storage-class sc"),
    (.option(.metadata, "K=V"), "attr meta metadata-set"),
    (.option(.tag, "K=V"), "tags tagging"),
    (.option(.header, "'NAME: VALUE'"), "add-header header-upload"),
    (.option(.contentType, "TYPE"), "mime-type guess-mime-type default-mime-type"),
    (.option(.expiresHeader, "DATE"), "expires-at"),
    (
      .option(.partSize, "SIZE"),
      "s3-chunk-size chunk-size multipart-chunk-size multipart-chunk-size-mb multipart-chunksize s3-upload-cutoff "
        + "multipart-threshold"
    ),
    (
      .option(.concurrency, "N"),
      "numworkers transfers s3-upload-concurrency parallel parallelism max-concurrent-requests threads jobs workers"
    ),
    (.option(.limitRate, "RATE"), "bwlimit limit-upload max-bandwidth upload-limit bandwidth-limit"),
    (.option(.checksum, "ALGORITHM"), "checksum-algorithm s3-checksum"),
    (.option(.retries, "N"), "retry retry-count max-attempts max-retries low-level-retries"),
    (.option(.connectTimeout, "DURATION"), "cli-connect-timeout contimeout"),
    (.option(.stallTimeout, "DURATION"), "cli-read-timeout read-timeout timeout speed-time"),
    (.option(.deadline, "DURATION"), "max-time max-duration"),
    (.option(.progress, "none"), "no-progress no-progress-meter"),
    (.option(.progress, "bar"), "show-progress"),
    (.option(.quiet), "only-show-errors silent quiet-mode"),
    (.option(.verbose, "(-vv shows requests)"), "debug log-level"),
    (.option(.resume, "auto, which is the default"), "continue continue-put"),
    (.option(.ifNoneMatch), "immutable"),
    (.option(.skipExisting), "no-clobber ignore-existing no-overwrite"),
    (.way(nothingDeleted), "delete delete-excluded"),
    (.option(.filesFrom, "FILE"), "files-from-raw input-file"),
    (.option(.followSymlinks), "copy-links"),
    (.way("the file is the first argument: s3up put FILE s3://BUCKET/KEY"), "upload-file file body"),
  ]

  private static let letters: [Character: Ours] = [
    "k": .option(.insecure), "T": .way("the file is the first argument: s3up put FILE s3://BUCKET/KEY"),
    "c": .option(.concurrency, "N"), "p": .option(.partSize, "SIZE"),
    "R": .option(.recursive), "L": .option(.followSymlinks),
    "H": .option(.header, "'NAME: VALUE'"), "s": .option(.quiet), "x": .option(.proxy, "URL"),
    "C": .option(.resume, "auto, which is the default"),
  ]
}
