// Prints the GiB/s of every CRC kernel that this CPU supports and of OpenSSL's digests; one core, best of many runs
// over a buffer larger than the second-level cache. Before measuring, it compares every kernel with the bitwise
// definition for all lengths 0...1200 at all alignments.
#include "ckernels.h"
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 8 << 20, ROUNDS = 20, LONGEST = 1200, ALIGNMENTS = 64 };

static const struct {
  const char *name;
  uint64_t polynomial, ones;
} crcs[] = {{"CRC32", 0xEDB88320, UINT32_MAX},
            {"CRC32C", 0x82F63B78, UINT32_MAX},
            {"CRC64NVME", 0x9A6C9329AC4BC9B5, UINT64_MAX}};

static uint8_t *source, *target;
static volatile uint64_t keep;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint64_t bitwise_step(uint64_t polynomial, uint64_t state, uint8_t byte) {
  state ^= byte;
  for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (state & 1 ? polynomial : 0);
  return state;
}

static int check(size_t kernel, int algorithm) {
  for (size_t start = 0; start < ALIGNMENTS; start++) {
    uint64_t expected = crcs[algorithm].ones;
    for (size_t length = 0; length <= LONGEST; length++) {
      const uint8_t *data = source + start;
      if (ck_kernel_run(kernel, algorithm, 0, data, length) != (expected ^ crcs[algorithm].ones)) {
        printf("WRONG: %s, %s, %zu bytes from %zu\n", ck_kernel_name(kernel), crcs[algorithm].name, length, start);
        return 0;
      }
      expected = bitwise_step(crcs[algorithm].polynomial, expected, data[length]);
    }
  }
  return 1;
}

static void show(const char *who, const char *what, double seconds) {
  printf("%-12s %-12s %8.2f GiB/s\n", who, what, SIZE / seconds / (1 << 30));
}

#define BEST(work)                                 \
  ({                                               \
    double best = 1e9;                             \
    for (int round = 0; round < ROUNDS; round++) { \
      double took = now();                         \
      work;                                        \
      took = now() - took;                         \
      if (took < best) best = took;                \
    }                                              \
    best;                                          \
  })

static void digest(const char *name) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (EVP_Digest(source, SIZE, bytes, &length, EVP_get_digestbyname(name), NULL) == 1) keep = bytes[0];
}

int main(void) {
  source = malloc(SIZE);
  target = malloc(SIZE);
  if (source == NULL || target == NULL) return 1;
  for (size_t i = 0; i < SIZE; i++) source[i] = (uint8_t)rand();
  memset(target, 1, SIZE);

  for (size_t kernel = 0; ck_kernel_name(kernel) != NULL; kernel++)
    for (int algorithm = CK_CRC32; algorithm <= CK_CRC64NVME; algorithm++)
      if (!check(kernel, algorithm)) return 1;

  for (size_t kernel = 0; ck_kernel_name(kernel) != NULL; kernel++)
    for (int algorithm = CK_CRC32; algorithm <= CK_CRC64NVME; algorithm++)
      show(ck_kernel_name(kernel), crcs[algorithm].name,
           BEST(keep = ck_kernel_run(kernel, algorithm, 0, source, SIZE)));
  const char *digests[] = {"SHA256", "SHA1", "MD5"};
  for (int i = 0; i < 3; i++) show("openssl", digests[i], BEST(digest(digests[i])));
  show("memcpy", "", BEST(memcpy(target, source, SIZE)));
  return 0;
}
