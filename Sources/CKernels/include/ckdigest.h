// OpenSSL's SHA-256 without its EVP layer. There, the first digest reads the names of all algorithms into tables, three
// million instructions: a seventh of what the upload of a small file costs. What a configuration says of providers, such as
// that only FIPS ones may be used, does not reach it.
#ifndef S3UP_CKDIGEST_H
#define S3UP_CKDIGEST_H
#include <stddef.h>
#include <stdint.h>

#define CK_DIGEST_LENGTH 32

// Room for OpenSSL's SHA256_CTX. A copy goes on for itself.
struct ck_digest {
  uint64_t state[16];
};

// These give 0 when OpenSSL refuses.
int ck_digest_begin(struct ck_digest *digest);
int ck_digest_add(struct ck_digest *digest, const void *data, size_t length);
int ck_digest_end(struct ck_digest *digest, uint8_t out[CK_DIGEST_LENGTH]);
// RFC 2104 over it.
int ck_hmac(const void *key, size_t key_length, const void *data, size_t length, uint8_t out[CK_DIGEST_LENGTH]);
#endif
