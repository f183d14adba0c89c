import MultipartBasics
import MultipartCore

/// Commands and options of other tools that people type (aws, s5cmd, rclone, s3cmd, mc, curl), each with its equivalent
/// here, or with the tool that has it.
enum OtherTools {
  enum Ours: Sendable, Equatable {
    /// The option here, with the value to give it if theirs has none or another.
    case option(FlagName, String? = nil)
    /// A sentence, if there is no such option.
    case way(String)

    /// For whoever typed it with this command.
    func text(for command: CommandName? = nil) -> String {
      guard case .option(let name, let value) = self else {
        if case .way(let sentence) = self { return sentence }
        return ""
      }
      let ours = "\(name.long)" + (value.map { " " + $0 } ?? "")
      guard let command, FlagList.find(name, for: command) == nil else { return "s3up calls it \(ours)" }
      let owners = FlagList.commands(with: name).map { "'\($0.rawValue)'" }.joined(separator: ", ")
      return "it is \(ours) of \(owners); '\(command.rawValue)' has no such option"
    }
  }

  static func long(_ name: String, for command: CommandName? = nil) -> Ours? {
    (own(command) + table).first { isAmong($0.theirs, name) }?.ours
  }

  /// What means something else with this command.
  private static func own(_ command: CommandName?) -> [(ours: Ours, theirs: String)] {
    switch command {
    case .get: downloads
    case .ls: listings
    case .uploads: cleaning
    default: []
    }
  }

  static func short(_ letter: Character) -> Ours? { letters[letter] }

  /// The equivalent here, as a sentence; `rest` are the words after it.
  static func command(_ name: String, _ rest: ArraySlice<Argument> = []) -> String? {
    if isAmong("s3 s3api", name), let next = rest.first {
      if let ours = CommandName(rawValue: next.text) { return "write \(ours.form)" }
      if let way = command(next.text, rest.dropFirst()) { return way }
    }
    let places = rest.filter { !$0.text.begins(with: "-") }.map(S3URL.looksLike)
    let isDownload = places.first == true && places.last == false
    return ((isDownload ? commandsToHere : []) + commands).first { isAmong($0.theirs, name) }?.way
  }

  /// Where the first of two words is an object.
  private static let commandsToHere: [(way: String, theirs: String)] = [
    (
      "s3up get -r s3://BUCKET/PREFIX/ DIR/ --skip-same downloads what has changed; it deletes nothing here, "
        + "aws s3 sync --delete or rclone sync does",
      "sync mirror rsync bisync"
    ),
    ("s3up get s3://BUCKET/KEY FILE downloads; no object is deleted, aws s3 rm does that", "mv move moveto"),
  ]

  /// The answer for any word.
  static func answer(_ word: String) -> String? {
    if let way = command(word) { return "'\(word)': \(way)." }
    if word.utf8.count == 2, word.begins(with: "-"), let ours = word.last.flatMap(short) {
      return "\(word): \(ours.text())."
    }
    return long(word).map { "--\(word): \($0.text())." }
  }

  /// The action of `ticket` that is meant.
  static func ticketAction(_ name: String) -> String? { ticketActions.first { isAmong($0.theirs, name) }?.ours }

  private static let ticketActions: [(ours: String, theirs: String)] = [
    ("issue", "create new make sign add presign"), ("show", "status info list ls stat get describe"),
    ("renew", "refresh extend resign prolong"), ("finish", "complete end close done"),
    ("revoke", "abort cancel delete remove rm"),
  ]

  private static func isAmong(_ theirs: String, _ name: String) -> Bool {
    let name = String(decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    return theirs.words(between: " ").contains(Substring(name))
  }

  static let keys = "keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --profile, never from an option"
  static let nothingDeleted =
    "s3up deletes nothing at the store, because one wrong path would empty it; aws s3 sync --delete or rclone sync does"

  static let replacing =
    "put replaces an object unless --if-none-match or --skip-existing is given; get replaces a file with --overwrite"

  static let insideStore = "inside a store aws s3 cp copies"

  static let commands: [(way: String, theirs: String)] = [
    (
      "s3up put FILE s3://BUCKET/KEY uploads, and s3up get s3://BUCKET/KEY downloads; \(insideStore)",
      "cp copy copyto"
    ),
    ("s3up put FILE s3://BUCKET/KEY uploads", "upload send push save store put-object object-put"),
    ("s3up get s3://BUCKET/KEY downloads", "download pull fetch restore get-object"),
    (
      "s3up put -r DIR s3://BUCKET/PREFIX/ --skip-same uploads what has changed; it deletes nothing at the store, "
        + "aws s3 sync --delete or rclone sync does",
      "sync mirror rsync bisync"
    ),
    (
      "s3up deletes no object, aws s3 rm does; s3up abort and s3up uploads --clean end unfinished uploads",
      "rm del delete remove deletefile purge delete-object"
    ),
    (
      "s3up does not delete the file: s3up put FILE s3://BUCKET/KEY && rm FILE; inside a store aws s3 mv moves",
      "mv move moveto rename"
    ),
    ("s3up does not create buckets, aws s3 mb does", "mb make-bucket create-bucket"),
    (
      "a store needs no folders: s3up put FILE s3://BUCKET/FOLDER/ uploads into one; aws s3 mb creates buckets", "mkdir"
    ),
    ("s3up does not delete buckets, aws s3 rb does", "rb rmdir rmdirs delete-bucket remove-bucket"),
    ("s3up ls -rl s3://BUCKET/PREFIX shows all sizes, and rclone size adds them up", "du size ncdu"),
    (
      "s3up ls s3://BUCKET/PREFIX/ lists keys, and with -r those in folders too",
      "find list dir lsd lsf lsl lsjson tree list-objects list-objects-v2"
    ),
    ("s3up get s3://BUCKET/KEY - prints an object", "cat more"),
    (
      "s3up verify FILE s3://BUCKET/KEY proves that an object is a file, without downloading it",
      "check cryptcheck checksum compare diff cmp md5 md5sum sha1sum hashsum"
    ),
    (
      "s3up head s3://BUCKET/KEY shows everything that is known about an object; s3up doctor s3://BUCKET tests the bucket",
      "stat info head-object get-object-attributes attributes"
    ),
    ("s3up put - s3://BUCKET/KEY uploads standard input", "pipe rcat stream"),
    ("s3up presign s3://BUCKET/KEY prints a URL for others", "share url sign signurl link presigned-url"),
    ("s3up put --batch FILE uploads what a list names; a shell runs several commands", "run batch"),
    (
      "s3up uploads s3://BUCKET lists unfinished uploads, and s3up create s3://BUCKET/KEY begins one",
      "mpu multipart create-multipart-upload"
    ),
    ("s3up part sends one part", "upload-part"),
    ("s3up parts lists the parts of an upload", "list-parts listmp"),
    ("s3up complete assembles the parts of an upload", "complete-multipart-upload"),
    ("s3up abort aborts an upload", "abort-multipart-upload abortmp cancel"),
    ("s3up uploads s3://BUCKET lists unfinished uploads, and --clean aborts them", "list-multipart-uploads cleanup"),
    ("s3up put with the same arguments resumes an interrupted upload", "resume continue retry"),
    (
      "s3up has no configuration of its own; it reads AWS's files and variables, aws configure writes them, and "
        + "s3up doctor shows what it found",
      "config configure alias init setup env"
    ),
    (
      "log in with aws sso login, and s3up uses that login; or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
      "login sso auth"
    ),
    ("s3up doctor s3://BUCKET tests the bucket", "ping test diagnose debug status"),
    ("write s3up put FILE s3://BUCKET/KEY", "s3 s3api"),
    ("s3up --version prints it", "version"),
    ("s3up help --man prints the manual page", "man manual"),
  ]

  /// Where a download has another answer than an upload.
  private static let downloads: [(ours: Ours, theirs: String)] = [
    (
      .way("s3up get never replaces a file without --overwrite; --skip-same passes over a file that is the object"),
      "no-clobber ignore-existing no-overwrite skip-destination-exists no-replace skip-existing"
    ),
    (.option(.overwrite), "force yes"),
    (.option(.ifNewer), "update if-source-newer"),
    (
      .way("objects that are named one by one go directly into the folder: s3up get s3://BUCKET/A s3://BUCKET/B DIR/"),
      "flatten"
    ),
    (
      .way("the target is the second argument: s3up get s3://BUCKET/KEY FILE"),
      "output output-document remote-name output-dir directory-prefix"
    ),
    (
      .way("every download is compared with the object's checksum or ETag"),
      "check-md5 no-check-md5 md5 list-md5 hash"
    ),
    (
      .way("a download is written beside its target, and takes its name when it is complete"),
      "inplace partial-suffix temp-dir"
    ),
  ]

  /// Where a list has another answer.
  private static let listings: [(ours: Ours, theirs: String)] = [
    (.way("ls prints no totals; rclone size adds the sizes up"), "summarize summary total")
  ]

  /// Where the end of unfinished uploads has another answer.
  private static let cleaning: [(ours: Ours, theirs: String)] = [
    (.way("--clean does not ask; --dry-run shows what it would abort"), "force yes confirm interactive")
  ]

  static let table: [(ours: Ours, theirs: String)] = [
    (.option(.insecure), "no-verify-ssl no-check-certificate skip-ssl-validation no-check-ssl"),
    (.option(.caBundle, "FILE"), "cacert ca-cert ca-certs ca-certificate ca-file"),
    (.option(.endpointURL, "URL"), "endpoint host s3-endpoint s3-endpoint-url server"),
    (.option(.addressing, "path"), "path-style force-path-style s3-force-path-style use-path-style path"),
    (.option(.region, "REGION"), "bucket-location s3-region location source-region destination-region"),
    (.option(.noSignRequest), "anonymous no-auth"),
    (
      .way(keys),
      "access-key secret-key access-key-id secret-access-key s3-access-key-id s3-secret-access-key session-token access-token user-key s3-session-token user aws-sigv4"
    ),
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
    (.option(.header, "'NAME: VALUE'"), "add-header header-upload custom-header header-download"),
    (.option(.contentType, "TYPE"), "mime-type guess-mime-type default-mime-type"),
    (.option(.expiresHeader, "DATE"), "expires-at"),
    (
      .option(.partSize, "SIZE"),
      "s3-chunk-size chunk-size multipart-chunk-size multipart-chunk-size-mb multipart-chunksize s3-upload-cutoff "
        + "multipart-threshold"
    ),
    (
      .option(.concurrency, "N"),
      "numworkers transfers s3-upload-concurrency parallel parallelism max-concurrent-requests threads jobs workers max-workers concurrent"
    ),
    (
      .option(.limitRate, "RATE"),
      "bwlimit limit-upload max-bandwidth upload-limit bandwidth-limit limit-download throttle-max"
    ),
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
    (.option(.skipExisting), "no-clobber ignore-existing no-overwrite skip-destination-exists no-replace"),
    (
      .option(.skipSame, "(get: --skip-same or --if-newer)"),
      "update size-only if-size-differ if-source-newer if-newer skip-unchanged checksum-only exact-timestamps "
        + "ignore-times no-update-modtime"
    ),
    (
      .way(nothingDeleted),
      "delete delete-excluded delete-after delete-before delete-during delete-removed remove max-delete"
    ),
    (.way(replacing), "overwrite force yes"),
    (.option(.filesFrom, "FILE"), "files-from-raw input-file"),
    (.option(.followSymlinks), "copy-links dereference"),
    (.option(.dryRun), "dryrun just-print fake"),
    (.option(.exclude, "GLOB"), "exclude-from filter filter-from rexclude exclude-if-present ignore"),
    (.option(.include, "GLOB"), "include-from rinclude"),
    (
      .way("find chooses by age or size: find DIR -mtime -1 | s3up put --files-from - s3://BUCKET/PREFIX/"),
      "max-age min-age newer-than max-size max-depth"
    ),
    (.way("messages go to standard error: s3up put … 2>FILE; --json is for programs"), "log-file log log-output"),
    (.option(.json), "output use-json-log output-format format"),
    (.option(.progress, "plain"), "stats stats-one-line"),
    (
      .way("s3up decides by itself how many objects it looks up at once; --concurrency is for transfers"),
      "checkers multi-thread-streams tpslimit fast-list no-traverse"
    ),
    (.option(.requestPayer), "requester-pays s3-requester-pays"),
    (.option(.storageClass, "REDUCED_REDUNDANCY"), "rr reduced-redundancy"),
    (.option(.checksum, "none"), "s3-disable-checksum no-checksum ignore-checksum"),
    (.option(.partSize, "5G"), "disable-multipart"),
    (.option(.expiresHeader, "DATE"), "expires"),
    (.option(.contentType, "TYPE"), "no-guess-mime-type mime-default content-type-default"),
    (
      .way("AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name the files, --profile the profile"),
      "config credentials-file s3-shared-credentials-file config-dir"
    ),
    (.way("s3up never makes a bucket, and needs to know no provider"), "s3-no-check-bucket s3-provider s3-env-auth"),
    (.way("a timer of cron or systemd runs s3up put -r DIR s3://BUCKET/PREFIX/ --skip-same again"), "watch"),
    (
      .way("it is for copies inside a store, which s3up does not make; aws s3 cp does"), "metadata-directive copy-props"
    ),
    (.way("bucket and key are one argument: s3://BUCKET/KEY"), "bucket key"),
    (.option(.grant, "WHO=PERMISSION"), "acl-grant grants"),
    (.option(.objectLockMode, "MODE"), "retention-mode"),
    (.option(.retainUntil, "DATE"), "retention-duration"),
    (.option(.profile, "NAME"), "s3-profile"),
    (.option(.accelerate), "s3-use-accelerate-endpoint"),
    (.option(.addressing, "virtual or path"), "host-bucket addressing-style lookup"),
    (.option(.color, "never"), "no-color"),
    (.option(.failFast), "stop-on-error exit-on-error"),
    (.option(.onInterrupt, "keep, which is the default"), "s3-leave-parts-on-error"),
    (.way("s3up part sends one part, whose number is its --part"), "part-number"),
    (.way("s3up ls has --long and --human-readable"), "long-listing human-readable-sizes"),
    (.option(.mtime), "preserve"),
    (
      .way("s3up signs its requests, and sends no certificate of its own"),
      "cert client-cert client-key ssl-cert ssl-key"
    ),
    (.way("s3up signs with Signature Version 4 only"), "signature-v2"),
    (.way("http:// or https:// in --endpoint-url decides about TLS"), "ssl no-ssl tlsv1.2"),
    (.way("s3up speaks HTTP/1.1 only"), "http1.1 disable-http2"),
    (.way("the variable NO_PROXY names the hosts that need no proxy"), "noproxy"),
    (
      .way("every upload is verified; --checksum chooses the algorithm, and --skip-same compares the bytes"),
      "check-md5 no-check-md5 md5 list-md5 hash"
    ),
    (.way("symbolic links are left out unless --follow-symlinks is given"), "links skip-links"),
    (
      .way("the pauses between tries grow by themselves; --retries limits the tries, and --deadline the whole run"),
      "retries-sleep retry-delay retry-max-time"
    ),
    (
      .way("memory is bounded, and needs no setting; --concurrency and --part-size decide"),
      "buffer-size use-mmap send-chunk"
    ),
    (.way("a bucket with versioning keeps what an upload replaces"), "backup-dir suffix track-renames"),
    (
      .way("S3 has no folders, only keys: an empty folder has no object"), "create-empty-src-dirs keep-dirs create-dirs"
    ),
    (
      .way("files that are named one by one go directly below the prefix: s3up put DIR/* s3://BUCKET/PREFIX/"),
      "flatten"
    ),
    (.way("the last line says what was done, and --json prints it for programs"), "summarize summary stat"),
    (.way("--json prints one JSON object a line, from which jq chooses"), "query"),
    (
      .way("s3up neither asks nor pages"),
      "no-cli-pager no-paginate cli-auto-prompt page-size interactive s3-list-chunk"
    ),
    (.way("large files are sent in parts by themselves"), "multipart-upload s3-max-upload-parts"),
    (.way("s3up looks at the destination only if a condition or a --skip option needs it"), "no-check-dest s3-no-head"),
    (.way("the bucket's lifecycle rules delete objects after a time"), "expiry-date expiry-days"),
    (
      .way("an archived object must be restored first, which aws s3api restore-object does"),
      "force-glacier-transfer ignore-glacier-warnings"
    ),
    (.way("--version-id names a version; s3up ls --versions lists them"), "rewind"),
    (.way("it is for copies inside a store; \(insideStore)"), "sse-c-copy-source sse-c-copy-source-key"),
    (.way("s3up completions bash|zsh|fish prints completions"), "install-completion"),
    (.way("tar czf - DIR | s3up put - s3://BUCKET/KEY uploads an archive as it is made"), "zip"),
    (.way("s3up always tells by its exit code; 's3up help exit-codes' lists them"), "fail error-on-no-transfer"),
    (.way("the file is the first argument: s3up put FILE s3://BUCKET/KEY"), "upload-file file body data-binary"),
  ]

  private static let letters: [Character: Ours] = [
    "k": .option(.insecure), "T": .way("the file is the first argument: s3up put FILE s3://BUCKET/KEY"),
    "c": .way(
      "s5cmd's -c is --concurrency N; s3cmd's names its configuration, and s3up reads AWS's files (--profile NAME)"),
    "O": .way("the target is the second argument: s3up get s3://BUCKET/KEY FILE"), "p": .option(.partSize, "SIZE"),
    "R": .option(.recursive), "L": .option(.followSymlinks),
    "H": .option(.header, "'NAME: VALUE'"), "s": .option(.quiet), "x": .option(.proxy, "URL"),
    "C": .option(.resume, "auto, which is the default"),
    "n": .way("s3up calls a dry run --dry-run; s5cmd's -n is --skip-existing"),
    "P": .way(
      "progress is shown on a terminal by itself, elsewhere with --progress plain; s3cmd's -P is --acl public-read"),
    "u": .option(.skipSame),
    "f": .way(replacing),
    "j": .option(.concurrency, "N"), "d": .option(.verbose, "(-vv shows requests)"), "e": .option(.sse, "AES256"),
    "a": .option(.metadata, "K=V"), "i": .option(.include, "GLOB"), "t": .option(.contentType, "TYPE"),
    "F": .way("the file is the first argument: s3up put FILE s3://BUCKET/KEY"), "V": .way("s3up --version prints it"),
  ]
}
