// Selects a kernel the first time a checksum is computed. An algorithm's constants and tables (16 KiB) are computed at
// its first use; pthread_once makes other threads wait for them.
#include "crc_internal.h"
#include "include/ckernels.h"
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_once_t made[3] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};
static struct ck_model models[3];
static struct ck_kernel_entry kernels[CK_MAX_KERNELS];
static size_t kernel_count;

#if !defined(__x86_64__) && !(defined(__aarch64__) && !defined(__AARCH64EB__))
size_t ck_hardware_kernels(struct ck_kernel_entry *to) {
  (void)to;
  return 0;
}
#endif

static void make_crc32(void) { ck_build_model(&models[CK_CRC32], 0xEDB88320, 32); }
static void make_crc32c(void) { ck_build_model(&models[CK_CRC32C], 0x82F63B78, 32); }
static void make_crc64nvme(void) { ck_build_model(&models[CK_CRC64NVME], 0x9A6C9329AC4BC9B5, 64); }

static const struct ck_model *model(int algorithm) {
  static void (*const make[3])(void) = {
      [CK_CRC32] = make_crc32, [CK_CRC32C] = make_crc32c, [CK_CRC64NVME] = make_crc64nvme};
  pthread_once(&made[algorithm], make[algorithm]);
  return &models[algorithm];
}

static void choose(void) {
  size_t count = ck_hardware_kernels(kernels);
  kernels[count++] = (struct ck_kernel_entry){"portable", ck_run_table};
  kernel_count = count;
}

// All three CRCs start from all ones and end inverted; callers keep the inverted value between calls.
static uint64_t run(ck_kernel *kernel, int algorithm, uint64_t crc, const void *data, size_t length) {
  uint64_t ones = algorithm == CK_CRC64NVME ? UINT64_MAX : UINT32_MAX;
  return kernel(model(algorithm), crc ^ ones, data, length) ^ ones;
}

static uint64_t best(int algorithm, uint64_t crc, const void *data, size_t length) {
  pthread_once(&once, choose);
  return run(kernels[0].run, algorithm, crc, data, length);
}

static uint64_t portable(int algorithm, uint64_t crc, const void *data, size_t length) {
  pthread_once(&once, choose);
  return run(ck_run_table, algorithm, crc, data, length);
}

uint32_t ck_crc32(uint32_t crc, const void *data, size_t length) {
  return (uint32_t)best(CK_CRC32, crc, data, length);
}

uint32_t ck_crc32c(uint32_t crc, const void *data, size_t length) {
  return (uint32_t)best(CK_CRC32C, crc, data, length);
}

uint64_t ck_crc64nvme(uint64_t crc, const void *data, size_t length) {
  return best(CK_CRC64NVME, crc, data, length);
}

uint32_t ck_crc32_portable(uint32_t crc, const void *data, size_t length) {
  return (uint32_t)portable(CK_CRC32, crc, data, length);
}

uint32_t ck_crc32c_portable(uint32_t crc, const void *data, size_t length) {
  return (uint32_t)portable(CK_CRC32C, crc, data, length);
}

uint64_t ck_crc64nvme_portable(uint64_t crc, const void *data, size_t length) {
  return portable(CK_CRC64NVME, crc, data, length);
}

const char *ck_crc_kernel(void) { return ck_kernel_name(0); }

const char *ck_kernel_name(size_t index) {
  pthread_once(&once, choose);
  return index < kernel_count ? kernels[index].name : NULL;
}

uint64_t ck_kernel_run(size_t index, int algorithm, uint64_t crc, const void *data, size_t length) {
  pthread_once(&once, choose);
  if (index >= kernel_count || algorithm < 0 || algorithm > CK_CRC64NVME) return crc;
  return run(kernels[index].run, algorithm, crc, data, length);
}
