// Prints the GiB/s of every CRC kernel that this CPU supports and of OpenSSL's digests; one core, best of many runs
// over a buffer larger than the second-level cache. Tests/Acceptance/Kernels shows that they are right.
#include "ckernels.h"
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 8 << 20, ROUNDS = 20 };

static const char *const crcs[] = {[CK_CRC32] = "CRC32", [CK_CRC32C] = "CRC32C", [CK_CRC64NVME] = "CRC64NVME"};

static uint8_t *source, *target;
static volatile uint64_t keep;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
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
      show(ck_kernel_name(kernel), crcs[algorithm],
           BEST(keep = ck_kernel_run(kernel, algorithm, 0, source, SIZE)));
  const char *digests[] = {"SHA256", "SHA1", "MD5"};
  for (int i = 0; i < 3; i++) show("openssl", digests[i], BEST(digest(digests[i])));
  show("memcpy", "", BEST(memcpy(target, source, SIZE)));
  return 0;
}
