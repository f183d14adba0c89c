@testable import MultipartCore

/// What kind of store the fake is. The default is AWS S3; other values make it a simpler or odder store.
package struct FakeOptions: Sendable {
  package var buckets = ["bucket"]
  package var region = "us-east-1"
  /// Whether the region in the scope of a signature must be `region`.
  package var checksRegion = true
  package var credentials = [FakeCredential.standard]
  /// Whether requests without any signature are served.
  package var allowsAnonymous = false
  /// The suffix of virtual hosts: `<bucket>.<hostSuffix>`.
  package var hostSuffix = "s3.test"
  package var storage = Storage.memory
  package var partETags = PartETags.md5
  package var minimumPartSize = 5 << 20
  package var maximumPartSize = 5 << 30
  /// Whether Complete refuses parts of different sizes, except for the last, as some stores do.
  package var wantsEqualParts = false
  /// Whether Complete requires every part that was sent, like Ceph.
  package var refusesLeftOutParts = false
  package var checksums = Checksums.verified
  /// Whether an object that was sent without a checksum gets a CRC64NVME, as at AWS since the end of 2024.
  package var addsDefaultChecksum = true
  package var completeETag = CompleteETag.quoted
  package var listParts = ListParts.paged
  /// The most parts, uploads or objects on one page.
  package var pageLimit = 1000
  package var errorBodies = ErrorBodies.xml
  /// Whether If-None-Match and If-Match work at Complete; otherwise they are silently ignored.
  package var conditionsAtComplete = true
  /// Whether If-Match holds only for an ETag without quotes, as for a PutObject at Ceph.
  package var wantsBareETag = false
  package var versioning = false
  /// The x-amz-abort-date of Create and ListParts, as with a lifecycle rule that cleans up.
  package var abortDate: String?
  /// The body of GetBucketLifecycleConfiguration; without it the answer is NoSuchLifecycleConfiguration.
  package var lifecycle: String?
  /// The answer to a second Complete of a finished upload.
  package var repeatedComplete = Repeated.noSuchUpload
  /// The answer to a second Abort.
  package var repeatedAbort = Repeated.noSuchUpload
  /// The account that x-amz-expected-bucket-owner must name if it is sent.
  package var owner = "123456789012"
  /// Whether requests without x-amz-request-payer are refused.
  package var requesterPays = false
  /// Whether SSE-C over plain HTTP is refused, as at AWS.
  package var customerKeysNeedTLS = false
  /// The number of seconds for which a session at a directory bucket is valid.
  package var sessionLifetime = 300
  /// Headers that the store ignores, by the beginning of their lower-case names.
  package var passesOver: [String] = []
  package var encryption = Encryption.asAsked
  /// Whether Create's answer names the encryption; at some stores only the parts' answers do.
  package var createNamesEncryption = true
  /// Whether every object is public, whatever ACL was requested.
  package var letsEverybodyRead = false
  /// Whether a GET with `?acl`, `?tagging`, `?retention` or `?legal-hold` gets the object itself, as from a store that
  /// does not know these queries.
  package var ignoresSettingsQueries = false
  /// The answer to a request for a retention or legal hold that an object does not have.
  package var noLock: (status: Int, code: String) = (404, "NoSuchObjectLockConfiguration")
  /// Whether a GET of a range gets the whole object with 200, as from a store or a proxy that does not know ranges.
  package var ignoresRanges = false
  /// Whether a completed upload is still listed, with its parts, as at OpenStack Swift for a while.
  package var listsCompleted = false
  /// Whether `If-Match` of a GET is ignored, as by a store or a cache that does not know it.
  package var ignoresIfMatch = false
  /// Whether `partNumber` of a HEAD or GET is ignored, as by most stores other than AWS.
  package var ignoresPartNumbers = false
  package var listedKeys = ListedKeys.encoded
  package var lists = Lists.paged
  /// Headers that HEAD hides, as from a caller who may not read them.
  package var headHides: [String] = []
  package var maximumConnections = 512
  /// The address to listen on; with port 0 the kernel chooses.
  package var address: UInt32 = 0x7F00_0001
  package var port = 0

  package init() {}

  package init(_ change: (inout FakeOptions) -> Void) {
    change(&self)
  }

  package enum Encryption: Sendable, Equatable {
    case asAsked
    /// No answer mentions encryption, SSE-C included.
    case none
    /// Every answer names this encryption, whatever was requested.
    case always(String)
  }

  func kept(_ headers: HeaderList) -> HeaderList {
    var kept = HeaderList()
    for field in headers.fields where !passesOver.contains(where: field.name.lowercased().hasPrefix) {
      kept.add(field.name, field.value)
    }
    return kept
  }

  /// How keys are written in lists if encoding was requested.
  package enum ListedKeys: Sendable {
    case encoded
    /// As written by Ceph: with EncodingType and `%2F` in lists of objects, without it and with `/` in lists of
    /// uploads. Unlike other stores, it does not encode `!$'()*|`.
    case asCeph
  }

  /// How lists of objects are divided into pages.
  package enum Lists: Sendable {
    case paged
    /// IsTruncated, and always the first page, with a different token each time.
    case endless
    /// Delimiters are ignored.
    case flat
  }

  package enum Storage: Sendable {
    case memory
    /// Sizes and digests only: bodies are discarded, and GET is refused.
    case discard
  }

  package enum PartETags: Sendable {
    case md5
    /// An ETag in MD5's form that is not an MD5; nothing is computed.
    case opaque
    /// An ETag that is not 32 hex digits.
    case odd
  }

  package enum Checksums: Sendable, Equatable {
    case verified
    /// The checksum is accepted, but neither verified nor returned.
    case ignored
    case refused(status: Int, code: String)

    /// Refuses with 501 NotImplemented, as some stores do.
    package static let notImplemented = Checksums.refused(status: 501, code: "NotImplemented")
    /// Refuses with 400 InvalidArgument, which names the header.
    package static let invalidArgument = Checksums.refused(status: 400, code: "InvalidArgument")
  }

  package enum CompleteETag: Sendable {
    case quoted, empty, unquoted, missing
    /// The quotes are written as the entity `&#34;`.
    case escaped
  }

  package enum ListParts: Sendable {
    case paged
    /// All parts are on one page, whatever max-parts is.
    case onePage
    /// The part that the marker names is repeated.
    case inclusiveMarker
    /// IsTruncated is set, but NextPartNumberMarker is missing.
    case noMarker
    /// IsTruncated is set, and the first page is repeated forever.
    case endless
  }

  package enum ErrorBodies: Sendable {
    case xml, html, empty
  }

  package enum Repeated: Sendable {
    case success, noSuchUpload
  }
}
