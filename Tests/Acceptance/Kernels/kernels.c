// kernels DATA NAME...: checks that this processor has exactly the kernels with these names, best first ("pairs": two
// SHA-256 in step), and compares each with the bitwise definition of its checksum. DATA is a file of random bytes. Prints
// the digests of many of its slices, which another program has to confirm.
//
// On aarch64 the variable HIDE ("pmull", "crc32" or both) makes the processor say that it lacks these instructions; the
// link has to be made with --wrap=getauxval.
#define _GNU_SOURCE
#include "ckernels.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1 << 16, LONGEST = 640, ALIGNMENTS = 16, ALGORITHMS = 3 };

static const struct {
  const char *name;
  uint64_t polynomial, ones, check;
} crcs[ALGORITHMS] = {[CK_CRC32] = {"CRC32", 0xEDB88320, UINT32_MAX, 0xCBF43926},
                      [CK_CRC32C] = {"CRC32C", 0x82F63B78, UINT32_MAX, 0xE3069283},
                      [CK_CRC64NVME] = {"CRC64NVME", 0x9A6C9329AC4BC9B5, UINT64_MAX, 0xAE8B14860A799888}};

// SIZE bytes between two pages that nobody may read, so that a kernel that reads outside its data is ended.
static uint8_t *data;
static size_t kernels;

#if defined(__aarch64__)
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type) {
  unsigned long has = __real_getauxval(type);
  const char *hide = getenv("HIDE");
  if (type != AT_HWCAP || !hide) return has;
  return has & ~(strstr(hide, "pmull") ? HWCAP_PMULL : 0ul) & ~(strstr(hide, "crc32") ? HWCAP_CRC32 : 0ul);
}
#endif

#define FAIL(...) (fprintf(stderr, "kernels: " __VA_ARGS__), fputc('\n', stderr), exit(1))

static void read_data(const char *path) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *all = mmap(NULL, SIZE + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int file = open(path, O_RDONLY);
  if (all == MAP_FAILED || mprotect(all + page, SIZE, PROT_READ | PROT_WRITE)) FAIL("no memory");
  data = all + page;
  if (file < 0 || read(file, data, SIZE) != SIZE) FAIL("%s has not %d bytes", path, SIZE);
  close(file);
}

static void check_names(char **names) {
  for (; ck_kernel_name(kernels); kernels++)
    if (!names[kernels] || strcmp(names[kernels], ck_kernel_name(kernels))) FAIL("this is not expected: %s", ck_kernel_name(kernels));
  char **pairs = names + kernels;
  if (*pairs && strcmp(*pairs, "pairs")) FAIL("this is missing: %s", *pairs);
  if (!*pairs != !ck_sha256_has_pairs()) FAIL("two SHA-256 in step: %d", ck_sha256_has_pairs());
}

static uint64_t bitwise(int algorithm, uint64_t state, uint8_t byte) {
  state ^= byte;
  for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (state & 1 ? crcs[algorithm].polynomial : 0);
  return state;
}

static void expect(size_t kernel, int algorithm, uint64_t crc, size_t at, size_t length, uint64_t expected) {
  uint64_t result = ck_kernel_run(kernel, algorithm, crc, data + at, length);
  if (result == expected) return;
  FAIL("%s, %s, %zu bytes from %zu: %016llx instead of %016llx", ck_kernel_name(kernel), crcs[algorithm].name, length, at,
       (unsigned long long)result, (unsigned long long)expected);
}

// Every length at every alignment, and every length up to the last byte that can be read.
static void check_lengths(int algorithm) {
  uint64_t ones = crcs[algorithm].ones;
  for (size_t start = 0; start < ALIGNMENTS; start++) {
    uint64_t expected = ones;
    for (size_t length = 0; length <= LONGEST; length++) {
      for (size_t kernel = 0; kernel < kernels; kernel++) expect(kernel, algorithm, 0, start, length, expected ^ ones);
      expected = bitwise(algorithm, expected, data[start + length]);
    }
  }
  for (size_t length = 0; length <= LONGEST; length++) {
    uint64_t expected = ones;
    for (size_t at = SIZE - length; at < SIZE; at++) expected = bitwise(algorithm, expected, data[at]);
    for (size_t kernel = 0; kernel < kernels; kernel++)
      expect(kernel, algorithm, 0, SIZE - length, length, expected ^ ones);
  }
}

// All of the data, cut at random places; each piece is added by a kernel that is drawn, to the sum of the one before it.
static void check_splits(int algorithm) {
  uint64_t expected = crcs[algorithm].ones;
  for (size_t at = 0; at < SIZE; at++) expected = bitwise(algorithm, expected, data[at]);
  expected ^= crcs[algorithm].ones;
  for (size_t kernel = 0; kernel < kernels; kernel++) expect(kernel, algorithm, 0, 0, SIZE, expected);
  for (int round = 0; round < 30; round++) {
    uint64_t sum = 0;
    for (size_t at = 0, length; at < SIZE; at += length) {
      length = (size_t)rand() % (rand() % 2 ? 300 : 20000);
      if (length > SIZE - at) length = SIZE - at;
      sum = ck_kernel_run((size_t)rand() % kernels, algorithm, sum, data + at, length);
    }
    if (sum != expected) FAIL("%s in pieces: %016llx", crcs[algorithm].name, (unsigned long long)sum);
  }
}

// A CRC is linear: that of two slices is that of the first followed by zeros, that of as many zeros, and that of the
// second, added without carries.
static void check_combined(int algorithm) {
  static const uint8_t zeros[20000];
  for (int round = 0; round < 300; round++) {
    size_t first = (size_t)rand() % 20000, second = (size_t)rand() % sizeof zeros;
    size_t one = (size_t)rand() % kernels, other = (size_t)rand() % kernels;
    uint64_t sum = ck_kernel_run(one, algorithm, 0, data, first);
    uint64_t combined = ck_kernel_run(other, algorithm, sum, zeros, second) ^
                        ck_kernel_run(one, algorithm, 0, zeros, second) ^
                        ck_kernel_run(other, algorithm, 0, data + first, second);
    expect(one, algorithm, 0, 0, first + second, combined);
    expect(other, algorithm, sum, first, second, combined);
  }
}

static void check_published(void) {
  static const char text[] = "123456789";
  for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++)
    for (size_t kernel = 0; kernel < kernels; kernel++) {
      if (ck_kernel_run(kernel, algorithm, 0, text, 9) != crcs[algorithm].check)
        FAIL("%s, %s: not the published value", ck_kernel_name(kernel), crcs[algorithm].name);
      if (ck_kernel_run(kernel, algorithm, 0, NULL, 0)) FAIL("%s: nothing has a sum", ck_kernel_name(kernel));
    }
  if (ck_crc32(0, text, 9) != crcs[CK_CRC32].check || ck_crc32_portable(0, text, 9) != crcs[CK_CRC32].check ||
      ck_crc32c(0, text, 9) != crcs[CK_CRC32C].check || ck_crc32c_portable(0, text, 9) != crcs[CK_CRC32C].check ||
      ck_crc64nvme(0, text, 9) != crcs[CK_CRC64NVME].check || ck_crc64nvme_portable(0, text, 9) != crcs[CK_CRC64NVME].check)
    FAIL("a function with a name has another value than its kernel");
}

static void print_digest(const char *name, size_t at, size_t length, const uint8_t *digest, int size) {
  printf("%s %zu %zu ", name, at, length);
  for (int i = 0; i < size; i++) printf("%02x", digest[i]);
  putchar('\n');
}

// Two slices that begin at different alignments: in step as far as `together`, then each on its own.
static void digest_two(size_t at, size_t other, size_t length, size_t together) {
  struct ck_sha256 a, b;
  uint8_t digest[32];
  size_t whole = length / 64 * 64;
  ck_sha256_begin(&a);
  ck_sha256_begin(&b);
  ck_sha256_two(&a, data + at, &b, data + other, together);
  ck_sha256_one(&a, data + at + together, whole - together);
  ck_sha256_end(&a, data + at + whole, length - whole, digest);
  print_digest("sha256", at, length, digest, sizeof digest);
  ck_sha256_end(&b, data + other + together, length - together, digest);
  print_digest("sha256", other, length, digest, sizeof digest);
}

static void digest_md5(size_t at, size_t length, size_t split) {
  struct ck_md5 sum;
  uint8_t digest[16];
  ck_md5_begin(&sum);
  ck_md5_add(&sum, data + at, split);
  ck_md5_add(&sum, data + at + split, length - split);
  ck_md5_end(&sum, digest);
  print_digest("md5", at, length, digest, sizeof digest);
}

static void print_digests(void) {
  for (size_t length = 0; length <= 300; length++) {
    size_t at = length % ALIGNMENTS, last = SIZE - length;
    digest_two(at, last, length, length / 64 * 64);
    digest_two(last, at + 1, length, length / 128 * 64);
    for (size_t split = 0; split <= length; split += 1 + length / 7) digest_md5(last, length, split);
  }
  digest_two(3, 5, SIZE - 100, SIZE / 2);
  digest_md5(1, SIZE - 100, 12345);
}

// A file that becomes shorter while it is mapped.
static void check_guard(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  int file = memfd_create("shorter", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)(4 * page))) FAIL("no file");
  const uint8_t *mapped = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED || pwrite(file, "x", 1, (off_t)(3 * page)) != 1) FAIL("no mapping");
  int guard = ck_guard_begin(mapped, 4 * page);
  ck_guard_touch(mapped, 4 * page);
  if (guard < 0 || ck_guard_fault(guard) || mapped[3 * page] != 'x') FAIL("a whole file has a fault");
  if (ftruncate(file, (off_t)(2 * page))) FAIL("the file did not become shorter");
  ck_guard_touch(mapped, 4 * page);
  if (ck_guard_fault(guard) != mapped + 2 * page || mapped[3 * page]) FAIL("the fault was not at the file's new end");
  ck_guard_end(guard);
  munmap((void *)mapped, 4 * page);
  close(file);
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  read_data(argv[1]);
  check_names(argv + 2);
  check_published();
  for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++) {
    check_lengths(algorithm);
    check_splits(algorithm);
    check_combined(algorithm);
  }
  print_digests();
  check_guard();
  return 0;
}
