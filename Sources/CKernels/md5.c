// MD5 (RFC 1321) for processes whose OpenSSL has none, as with a FIPS provider. S3 makes ETags of it; it protects
// nothing.
#include "include/ckmd5.h"
#include <string.h>

// floor(2^32 * |sin(i + 1)|)
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

static uint32_t word(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

#define STEP(function, index, turns)                               \
  do {                                                             \
    uint32_t sum = a + (function) + sines[i] + words[(index) % 16]; \
    a = d, d = c, c = b;                                           \
    b += sum << (turns) | sum >> (32 - (turns));                   \
  } while (0)

static void block(uint32_t state[4], const uint8_t *data) {
  static const uint8_t turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], words[16];
  for (int i = 0; i < 16; i++) words[i] = word(data + 4 * i);
  for (int i = 0; i < 16; i++) STEP((b & c) | (~b & d), i, turns[0][i % 4]);
  for (int i = 16; i < 32; i++) STEP((b & d) | (c & ~d), 5 * i + 1, turns[1][i % 4]);
  for (int i = 32; i < 48; i++) STEP(b ^ c ^ d, 3 * i + 5, turns[2][i % 4]);
  for (int i = 48; i < 64; i++) STEP(c ^ (b | ~d), 7 * i, turns[3][i % 4]);
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

void ck_md5_begin(struct ck_md5 *md5) {
  *md5 = (struct ck_md5){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
}

void ck_md5_add(struct ck_md5 *md5, const void *data, size_t length) {
  const uint8_t *at = data;
  size_t held = md5->length % 64;
  md5->length += length;
  if (held > 0) {
    size_t fits = 64 - held < length ? 64 - held : length;
    memcpy(md5->rest + held, at, fits);
    at += fits, length -= fits;
    if (held + fits < 64) return;
    block(md5->state, md5->rest);
  }
  for (; length >= 64; at += 64, length -= 64) block(md5->state, at);
  if (length > 0) memcpy(md5->rest, at, length);
}

void ck_md5_end(struct ck_md5 *md5, uint8_t digest[16]) {
  static const uint8_t padding[64] = {0x80};
  uint8_t bits[8];
  for (int i = 0; i < 8; i++) bits[i] = (uint8_t)(md5->length << 3 >> (8 * i));
  ck_md5_add(md5, padding, 1 + (119 - md5->length % 64) % 64);
  ck_md5_add(md5, bits, sizeof bits);
  for (int i = 0; i < 16; i++) digest[i] = (uint8_t)(md5->state[i / 4] >> (8 * (i % 4)));
}
