internal import CCurl
internal import CTLS

/// Makes TLS cheaper than libcurl's defaults. If libcurl uses a TLS library other than the OpenSSL that this program is
/// linked to, nothing here has an effect.
enum TLSTuning {
  /// Whether libcurl uses our OpenSSL (`curl_version_info`).
  static let isAvailable = CurlGlobal.isReady && ctls_is_same_openssl(s3up_tls_library()) == 1

  /// The size of a full TLS record; fewer bytes are one record, which need not be collected.
  private static let record = 16 << 10

  /// Called before libcurl writes `count` bytes of a body, which it does as soon as it has them.
  static func willWrite(_ count: Int, on easy: CurlEasy) {
    guard isAvailable, count > record else { return }
    _ = ctls_gather_expect(s3up_info_openssl(easy.handle), count)
  }

  /// Sets ciphers and certificates. The set of ciphers does not change, only their order, for servers without an order
  /// of their own. The trusted certificates do not change either; the bundle is read only if the folder lacks the one
  /// needed.
  static func setUp(_ easy: CurlEasy, trust: SystemTrust?) {
    if let trust {
      easy.set(CURLOPT_CAINFO, trust.bundle)
      // Set even if nil: otherwise libcurl trusts its own folder in addition to the user's bundle.
      easy.set(CURLOPT_CAPATH, trust.folder)
      // For a proxy that is itself reached over TLS.
      easy.set(CURLOPT_PROXY_CAINFO, trust.bundle)
      easy.set(CURLOPT_PROXY_CAPATH, trust.folder)
    }
    guard isAvailable else { return }
    let done = s3up_easy_sslctx(easy.handle) { handle, context, bundle in
      Transfer.of(handle)?.shakesHands(in: context)
      _ = ctls_prefer_aes128(context)
      if let context, let bundle { ctls_trust_when_needed(context, OpaquePointer(bundle)) }
      return CURLE_OK
    }
    guard done == CURLE_OK, trust?.folder != nil, let path = trust?.bundle, let bundle = ctls_trust_bundle(path) else {
      return
    }
    easy.set(CURLOPT_SSL_CTX_DATA, pointer: UnsafeMutableRawPointer(bundle))
    easy.set(CURLOPT_CAINFO, nil as String?)
  }
}

/// TLS sessions that all transfers of a loop share, so that its second connection to a store resumes the first one's.
/// Owns a share handle (`curl_share_init`, `curl_share_cleanup`). Used by one loop's thread only, so it needs no locks;
/// every easy handle that uses it keeps a reference, because it must outlive them.
final class TLSSessions {
  let handle: UnsafeMutableRawPointer?

  init() {
    handle = curl_share_init()
    if let handle { _ = s3up_share_data(handle, CURL_LOCK_DATA_SSL_SESSION) }
  }

  deinit { curl_share_cleanup(handle) }
}
