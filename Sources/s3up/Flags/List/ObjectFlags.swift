import MultipartBasics
import MultipartCore

extension FlagList {
  static let object: [Flag] = headers + placing + version + encryption + lock

  private static let headers: [Flag] = [
    Flag(
      .attributes, .value("FILE|-"), .object, .files, "Set headers, metadata and tags by file name, from FILE.",
      more: """
        Each line has a glob, as in --include, and the attributes of the objects of matching files: *.html \
        cache-control=no-cache content-type="text/html; charset=utf-8". The attributes are content-type, \
        cache-control, content-disposition, content-encoding, content-language, expires, website-redirect, \
        storage-class, tag.K and meta.K; !NAME cancels what earlier lines say. For each attribute the last matching \
        line counts, and overrides the option of that name. A file is matched by its path below the given folder, a \
        line of --batch by its key. Lines that match nothing are reported at the end.
        """, names: .input),
    Flag(
      .contentType, .value("TYPE"), .object, .stating, "Content type of the object.",
      standard: "by the name, then by the first bytes", common: [.files, .create]),
    Flag(.cacheControl, .value("TEXT"), .object, .stating, "Cache-Control of the object."),
    Flag(.contentDisposition, .value("TEXT"), .object, .stating, "Content-Disposition of the object."),
    Flag(.contentEncoding, .value("TEXT"), .object, .stating, "Content-Encoding of the object."),
    Flag(.contentLanguage, .value("TEXT"), .object, .stating, "Content-Language of the object."),
    Flag(
      .expiresHeader, .value("DATE"), .object, .stating, "Expires header of the object.",
      more: "An HTTP date, or one like 2031-01-31T00:00:00Z."),
    Flag(
      .metadata, .list("K=V"), .object, .stating, "User metadata, sent as x-amz-meta-K; may be repeated.",
      common: .create),
    Flag(
      .mtime, .toggle, .object, .files,
      "Store the file's modification time as metadata mtime, which rclone reads.",
      more: "In seconds since 1970, with fractions, as rclone sync compares it.", negatable: true),
    Flag(.tag, .list("K=V"), .object, .stating, "Object tag; may be repeated, at most 10."),
    Flag(
      .header, .list("'NAME: VALUE'"), .object, [.files, .create, .complete],
      "Any other header of the request that creates the object; may be repeated.",
      more:
        "complete does not send them, but checks those of metadata and the like. Headers that s3up sets itself are refused."
    ),
  ]

  private static let placing: [Flag] = [
    Flag(
      .storageClass, .value("CLASS"), .object, .stating, "Storage class.",
      choices: [
        "STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER", "GLACIER_IR", "DEEP_ARCHIVE",
        "REDUCED_REDUNDANCY", "EXPRESS_ONEZONE",
      ], open: true, common: .create),
    Flag(
      .acl, .value("ACL"), .object, .stating, "Canned ACL.",
      choices: [
        "private", "public-read", "public-read-write", "authenticated-read", "aws-exec-read", "bucket-owner-read",
        "bucket-owner-full-control", "project-private",
      ]),
    Flag(
      .grant, .list("PERMISSION=TYPE=ID"), .object, .stating,
      "Grant read, read-acl, write-acl or full to id=…, uri=… or email=…; may be repeated.",
      more: "For example read=uri=http://acs.amazonaws.com/groups/global/AllUsers. Not together with --acl."),
    Flag(
      .websiteRedirect, .value("URL"), .object, [.one, .create, .issueOne, .complete],
      "Target to which the bucket's website redirects requests for this object."),
  ]

  private static let version: [Flag] = [
    Flag(
      .versionID, .value("ID"), .object, [.getObject, .verifyOne, .head], "Version of the object.",
      common: [.verifyOne, .head])
  ]

  private static let encryption: [Flag] = [
    Flag(
      .sse, .value("KIND"), .object, .stating, "Encryption by the store: AES256, aws:kms or aws:kms:dsse.",
      choices: ServerSideEncryption.Algorithm.words),
    Flag(
      .sseKMSKeyID, .value("ID"), .object, .stating, "KMS key, with --sse aws:kms or aws:kms:dsse."),
    Flag(
      .sseKMSContext, .list("K=V"), .object, .stating,
      "KMS encryption context; may be repeated, or one JSON object of strings."),
    Flag(
      .bucketKey, .toggle, .object, .stating, "Use the bucket's KMS key, with --sse aws:kms; --no-bucket-key does not.",
      negatable: true),
    Flag(
      .sseCKeyFile, .value("FILE"), .object, [.files, .create, .partSigned, .parts, .complete, .get, .verify, .head],
      "Encrypt, or read, with the key in FILE: 32 raw bytes or their base64.",
      more: "The key is sent only to the store, over TLS unless it runs on this machine, and is never shown.",
      names: .input, common: [.verify, .head]
    ),
  ]

  private static let lock: [Flag] = [
    Flag(
      .objectLockMode, .value("MODE"), .object, .stating,
      "Object lock: GOVERNANCE or COMPLIANCE, with --retain-until.", choices: ObjectHeaders.LockMode.words),
    Flag(
      .retainUntil, .value("DATE"), .object, .stating, "When the object lock ends: 2031-01-31T00:00:00Z."),
    Flag(.legalHold, .value("on|off"), .object, .stating, "Legal hold.", choices: ["on", "off"]),
  ]
}
