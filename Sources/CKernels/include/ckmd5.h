// MD5 (RFC 1321) in the caller's memory: begin, add any number of times, end once. A copy continues independently.
#ifndef S3UP_CKMD5_H
#define S3UP_CKMD5_H
#include <stddef.h>
#include <stdint.h>

struct ck_md5 {
  uint32_t state[4];
  uint64_t length; // bytes
  uint8_t rest[64];
};
void ck_md5_begin(struct ck_md5 *md5);
void ck_md5_add(struct ck_md5 *md5, const void *data, size_t length);
void ck_md5_end(struct ck_md5 *md5, uint8_t digest[16]);
#endif
