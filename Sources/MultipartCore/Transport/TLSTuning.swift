internal import CCurl
internal import CKernels

/// What makes TLS cheap beyond what libcurl does by itself. Where libcurl is built with another library than the
/// OpenSSL we are linked to, nothing here does anything.
enum TLSTuning {
  /// `curl_version_info`.
  static let isAvailable = CurlGlobal.isReady && ck_is_same_openssl(s3up_tls_library()) == 1

  /// A record of TLS holds so much; fewer bytes make one, and one needs no gathering.
  private static let record = 16 << 10

  /// Before libcurl writes `count` bytes of a body, which it does as soon as it has them.
  static func willWrite(_ count: Int, on easy: CurlEasy) {
    guard isAvailable, count > record else { return }
    _ = ck_gather_expect(s3up_info_openssl(easy.handle), count)
  }

  /// The ciphers stay what they are; their order decides at servers that have none of their own. The certificates that
  /// are trusted stay what they are too; those of the bundle are read when the folder has not the one that is needed.
  static func setUp(_ easy: CurlEasy, trust: SystemTrust?) {
    guard isAvailable else { return }
    let done = s3up_easy_sslctx(easy.handle) { handle, context, bundle in
      Transfer.of(handle)?.shakesHands(in: context)
      _ = ck_prefer_aes128(context)
      if let context, let bundle { ck_trust_when_needed(context, OpaquePointer(bundle)) }
      return CURLE_OK
    }
    guard done == CURLE_OK, let trust, let bundle = ck_trust_bundle(trust.bundle) else { return }
    easy.set(CURLOPT_SSL_CTX_DATA, pointer: UnsafeMutableRawPointer(bundle))
    easy.set(CURLOPT_CAINFO, nil as String?)
    easy.set(CURLOPT_CAPATH, trust.folder)
  }
}

/// TLS sessions that all transfers of a loop share, so that its second connection to a store resumes the first one's.
/// Owns a share handle (`curl_share_init`, `curl_share_cleanup`). Used by the thread of one loop alone, so it needs no
/// locks; every easy handle that uses it holds it, because libcurl must be done with it before it goes.
final class TLSSessions {
  let handle: UnsafeMutableRawPointer?

  init() {
    handle = curl_share_init()
    if let handle { _ = s3up_share_data(handle, CURL_LOCK_DATA_SSL_SESSION) }
  }

  deinit { curl_share_cleanup(handle) }
}
