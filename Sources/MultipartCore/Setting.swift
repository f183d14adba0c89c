/// What a caller can set, by the names of `StoreOptions` and `UploadOptions`.
public enum Setting: String, Sendable, CaseIterable {
  case accelerate, addressing, concurrency, dualstack, endpoint, fips, limitRate, partSize, payloadSigning, region
  case profile, caBundle, tries, proxy, stallTimeout, connectTimeout
}
