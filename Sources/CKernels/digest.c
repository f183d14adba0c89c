#define OPENSSL_SUPPRESS_DEPRECATED  // OpenSSL 3 would have everybody use EVP.
#include <openssl/opensslconf.h>
#ifdef OPENSSL_NO_DEPRECATED_3_0
#error "this OpenSSL was built without SHA256_Init, which the signer is built on"
#endif
#include "include/ckdigest.h"
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct ck_digest), "no room for SHA256_CTX");
_Static_assert(SHA256_DIGEST_LENGTH == CK_DIGEST_LENGTH, "another digest");

int ck_digest_begin(struct ck_digest *digest) { return SHA256_Init((SHA256_CTX *)digest); }

int ck_digest_add(struct ck_digest *digest, const void *data, size_t length) {
  return SHA256_Update((SHA256_CTX *)digest, data, length);
}

int ck_digest_end(struct ck_digest *digest, uint8_t out[CK_DIGEST_LENGTH]) {
  return SHA256_Final(out, (SHA256_CTX *)digest);
}

// Two passes: over the inner pad and the data, then over the outer pad and the first digest.
int ck_hmac(const void *key, size_t key_length, const void *data, size_t length, uint8_t out[CK_DIGEST_LENGTH]) {
  uint8_t pad[SHA256_CBLOCK] = {0};
  struct ck_digest digest;
  int good = 1;
  if (key_length > sizeof pad) {
    good = ck_digest_begin(&digest) && ck_digest_add(&digest, key, key_length) && ck_digest_end(&digest, pad);
  } else if (key_length) {
    memcpy(pad, key, key_length);
  }
  for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36;
  good = good && ck_digest_begin(&digest) && ck_digest_add(&digest, pad, sizeof pad) &&
         ck_digest_add(&digest, data, length) && ck_digest_end(&digest, out);
  for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36 ^ 0x5c;
  good = good && ck_digest_begin(&digest) && ck_digest_add(&digest, pad, sizeof pad) &&
         ck_digest_add(&digest, out, CK_DIGEST_LENGTH) && ck_digest_end(&digest, out);
  OPENSSL_cleanse(pad, sizeof pad);
  OPENSSL_cleanse(&digest, sizeof digest);
  return good;
}
