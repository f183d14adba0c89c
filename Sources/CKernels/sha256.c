// SHA-256 (FIPS 180-4), one or two streams at a time.
#include "include/cksha256.h"
#include <pthread.h>
#include <string.h>

static const uint32_t K[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

typedef void compress(struct ck_sha256 *const sums[], const uint8_t *const data[], size_t blocks);

static uint32_t rotate(uint32_t x, int by) { return x >> by | x << (32 - by); }

static uint32_t big_endian(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void portable(struct ck_sha256 *const sums[], const uint8_t *const data[], size_t blocks) {
  uint32_t *h = sums[0]->state, w[64];
  for (const uint8_t *at = data[0]; blocks--; at += 64) {
    uint32_t s[8];
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
      if (i < 16) {
        w[i] = big_endian(at + 4 * i);
      } else {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
      }
      uint32_t e = s[4], a = s[0];
      uint32_t t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + K[i] + w[i];
      uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      memmove(s + 1, s, 7 * sizeof *s);
      s[4] += t1;
      s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
  }
}

static compress *one = portable, *two;

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define SHA __attribute__((target("sha,sse4.1,ssse3")))
#define INLINE static inline __attribute__((always_inline))

// The state in the order that the instructions need: words A, B, E, F and C, D, G, H.
struct halves {
  __m128i abef, cdgh;
};

INLINE SHA struct halves load(const uint32_t *state) {
  __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
  __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1B);
  return (struct halves){_mm_alignr_epi8(abcd, efgh, 8), _mm_blend_epi16(efgh, abcd, 0xF0)};
}

INLINE SHA void store(uint32_t *state, struct halves h) {
  __m128i low = _mm_shuffle_epi32(h.abef, 0x1B), high = _mm_shuffle_epi32(h.cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xF0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

// Four rounds of each stream alternately, so that each hides the other's latency. `streams` is a constant where this is
// inlined.
INLINE SHA void rounds(struct ck_sha256 *const sums[], const uint8_t *const data[], size_t blocks, const int streams) {
  const __m128i flip = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  struct halves now[2];
  for (int s = 0; s < streams; s++) now[s] = load(sums[s]->state);
  for (size_t block = 0; block < blocks; block++) {
    struct halves before[2];
    __m128i w[2][4];
    for (int s = 0; s < streams; s++) before[s] = now[s];
#pragma GCC unroll 16
    for (int r = 0; r < 16; r++) {
      __m128i constants = _mm_load_si128((const __m128i *)(K + 4 * r));
#pragma GCC unroll 2
      for (int s = 0; s < streams; s++) {
        __m128i *m = w[s];
        if (r < 4) m[r] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data[s] + 64 * block + 16 * r)), flip);
        __m128i add = _mm_add_epi32(m[r & 3], constants);
        now[s].cdgh = _mm_sha256rnds2_epu32(now[s].cdgh, now[s].abef, add);
        if (r >= 3 && r < 15) {
          __m128i next = _mm_add_epi32(m[(r + 1) & 3], _mm_alignr_epi8(m[r & 3], m[(r + 3) & 3], 4));
          m[(r + 1) & 3] = _mm_sha256msg2_epu32(next, m[r & 3]);
        }
        now[s].abef = _mm_sha256rnds2_epu32(now[s].abef, now[s].cdgh, _mm_shuffle_epi32(add, 0x0E));
        if (r >= 1 && r < 13) m[(r + 3) & 3] = _mm_sha256msg1_epu32(m[(r + 3) & 3], m[r & 3]);
      }
    }
    for (int s = 0; s < streams; s++) {
      now[s].abef = _mm_add_epi32(now[s].abef, before[s].abef);
      now[s].cdgh = _mm_add_epi32(now[s].cdgh, before[s].cdgh);
    }
  }
  for (int s = 0; s < streams; s++) store(sums[s]->state, now[s]);
}

SHA static void one_x86(struct ck_sha256 *const sums[], const uint8_t *const data[], size_t blocks) {
  rounds(sums, data, blocks, 1);
}

SHA static void two_x86(struct ck_sha256 *const sums[], const uint8_t *const data[], size_t blocks) {
  rounds(sums, data, blocks, 2);
}

static void choose(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1) || !(c & bit_SSSE3)) return;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & 1u << 29)) return;
  one = one_x86;
  two = two_x86;
}
#else
static void choose(void) {}
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;

int ck_sha256_has_pairs(void) {
  pthread_once(&once, choose);
  return two != NULL;
}

void ck_sha256_begin(struct ck_sha256 *sum) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(sum->state, start, sizeof start);
  sum->length = 0;
}

void ck_sha256_one(struct ck_sha256 *sum, const void *data, size_t length) {
  pthread_once(&once, choose);
  const uint8_t *bytes = data;
  one(&sum, &bytes, length / 64);
  sum->length += length / 64 * 64;
}

void ck_sha256_two(struct ck_sha256 *a, const void *data_a, struct ck_sha256 *b, const void *data_b, size_t length) {
  if (!ck_sha256_has_pairs()) {
    ck_sha256_one(a, data_a, length);
    ck_sha256_one(b, data_b, length);
    return;
  }
  struct ck_sha256 *const sums[] = {a, b};
  const uint8_t *const data[] = {data_a, data_b};
  two(sums, data, length / 64);
  a->length += length / 64 * 64;
  b->length += length / 64 * 64;
}

void ck_sha256_end(struct ck_sha256 *sum, const void *data, size_t length, uint8_t digest[32]) {
  size_t whole = length / 64 * 64, rest = length - whole;
  ck_sha256_one(sum, data, whole);
  uint64_t bits = (sum->length + rest) * 8;
  uint8_t last[128] = {0};
  if (rest) memcpy(last, (const uint8_t *)data + whole, rest);
  last[rest] = 0x80;
  size_t end = rest < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++) last[end - 1 - i] = (uint8_t)(bits >> 8 * i);
  ck_sha256_one(sum, last, end);
  for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(sum->state[i / 4] >> (24 - 8 * (i % 4)));
}
