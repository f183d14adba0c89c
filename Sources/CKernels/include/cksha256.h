// SHA-256 of two streams at once. The CPU's instruction for two rounds takes four cycles and can start every two: a
// single stream waits half of the time, and two streams take little longer than one.
#ifndef S3UP_CKSHA256_H
#define S3UP_CKSHA256_H
#include <stddef.h>
#include <stdint.h>

struct ck_sha256 {
  uint32_t state[8];
  uint64_t length;
};

// 1 if the CPU has the instructions. Without them the functions below are correct but slower than OpenSSL's.
int ck_sha256_has_pairs(void);
void ck_sha256_begin(struct ck_sha256 *sum);
// `length` is a multiple of 64.
void ck_sha256_one(struct ck_sha256 *sum, const void *data, size_t length);
// Both slices have the same length, a multiple of 64.
void ck_sha256_two(struct ck_sha256 *a, const void *data_a, struct ck_sha256 *b, const void *data_b, size_t length);
// Adds the last bytes, any number of them, and writes the digest.
void ck_sha256_end(struct ck_sha256 *sum, const void *data, size_t length, uint8_t digest[32]);
#endif
