// SHA-256 of two streams at once. The CPU's instruction for two rounds takes four cycles and can begin every two: one
// stream alone waits half of the time, two take little longer than one.
#ifndef S3UP_CKSHA256_H
#define S3UP_CKSHA256_H
#include <stddef.h>
#include <stdint.h>

struct ck_sha256 {
  uint32_t state[8];
  uint64_t length;
};

// 1 where the CPU has the instructions. Elsewhere the functions below are right and slow: OpenSSL's are better.
int ck_sha256_has_pairs(void);
void ck_sha256_begin(struct ck_sha256 *sum);
// `length` is a multiple of 64.
void ck_sha256_one(struct ck_sha256 *sum, const void *data, size_t length);
// The same length of both, a multiple of 64.
void ck_sha256_two(struct ck_sha256 *a, const void *data_a, struct ck_sha256 *b, const void *data_b, size_t length);
// The last bytes, any number of them, and the digest.
void ck_sha256_end(struct ck_sha256 *sum, const void *data, size_t length, uint8_t digest[32]);
#endif
