// OpenSSL's SHA-256 without its EVP layer, in which the first digest reads the names of all algorithms into tables: three
// million instructions, a seventh of the upload of a small file. It ignores OpenSSL's configuration of providers, such as
// one that allows only FIPS providers.
#ifndef S3UP_CKDIGEST_H
#define S3UP_CKDIGEST_H
#include <stddef.h>
#include <stdint.h>

#define CK_DIGEST_LENGTH 32

// Space for OpenSSL's SHA256_CTX. A copy is independent.
struct ck_digest {
  uint64_t state[16];
};

// These return 0 if OpenSSL refuses.
int ck_digest_begin(struct ck_digest *digest);
int ck_digest_add(struct ck_digest *digest, const void *data, size_t length);
int ck_digest_end(struct ck_digest *digest, uint8_t out[CK_DIGEST_LENGTH]);
// HMAC (RFC 2104) with SHA-256.
int ck_hmac(const void *key, size_t key_length, const void *data, size_t length, uint8_t out[CK_DIGEST_LENGTH]);
#endif
