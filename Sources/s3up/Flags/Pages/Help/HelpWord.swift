import MultipartBasics

/// Words that people look up and that no definition of a command or an option uses, each with what answers them.
enum HelpWord {
  static func answer(_ word: String) -> String? {
    let sought = word.lowercased().words(between: " ")
    return table.first { entry in sought.allSatisfy { entry.words.words(between: " ").contains($0) } }?.answer
  }

  private static let table: [(answer: String, words: String)] = [
    (
      "s3up put -r DIR s3://BUCKET/PREFIX/ --skip-same uploads what has changed; s3up help cron is about every night",
      "backup backups nightly daily schedule scheduled systemd cronjob automatic"
    ),
    (
      "s3up put --from-command s3://BUCKET/KEY -- CMD uploads what CMD prints, and publishes nothing if CMD fails",
      "database dump postgres postgresql mysql mariadb pg_dump mysqldump mongodump"
    ),
    (
      "--limit-rate RATE limits a run, and --limit-rate 08:00=2M,19:00=off by the time of day",
      "bandwidth throttle throttling"
    ),
    (
      "an upload needs s3:PutObject, s3:AbortMultipartUpload, s3:ListMultipartUploadParts and s3:GetObject for its keys, "
        + "and s3:ListBucket and s3:ListBucketMultipartUploads for the bucket; s3up doctor s3://BUCKET/PREFIX/ tries "
        + "the first three, and names the one that is missing",
      "permission permissions policy policies iam 403 forbidden denied accessdenied"
    ),
    (
      "s3up doctor shows which credentials are used, from where, and until when; s3up help credentials explains the order",
      "401 unauthorized signaturedoesnotmatch invalidaccesskeyid expiredtoken invalidtoken"
    ),
    (
      "the bucket or object does not exist at this endpoint, or the name is misspelled; s3up doctor s3://BUCKET shows the "
        + "endpoint and the region, and s3up ls s3://BUCKET what is there",
      "404 nosuchbucket nosuchkey notfound"
    ),
    (
      "the store asks for fewer requests; s3up repeats them more slowly, and after --retries tries ends with 75",
      "503 slowdown 429 toomanyrequests"
    ),
    (
      "the store has failed for the moment; s3up tries again, and after --retries tries ends with 75",
      "500 502 504 internalerror"
    ),
    ("s3up doctor compares this machine's clock with the store's", "requesttimetooskewed skew ntp"),
    (
      "--endpoint-url URL, or AWS_ENDPOINT_URL, is the address of a store that is not AWS; its keys are in "
        + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
      "minio ceph r2 cloudflare wasabi backblaze b2 seaweedfs garage gcs digitalocean hetzner scaleway compatible"
    ),
    (
      "s3up uploads s3://BUCKET lists unfinished uploads; --clean aborts those of this machine, with --all every one; "
        + "a lifecycle rule of the bucket (AbortIncompleteMultipartUpload) does it without a command, and s3up doctor "
        + "s3://BUCKET shows whether there is one",
      "orphan orphans orphaned leftover lifecycle abortincompletemultipartupload"
    ),
    (
      "the README says how s3up is installed; it does not update itself",
      "install installation uninstall upgrade update"
    ),
  ]
}
