// CRCs on 64-bit ARM: folding by polynomial multiplication (PMULL), and the CRC32 instructions for processors that
// have only those (they compute both 32-bit CRCs, not the 64-bit one).
#include "crc_internal.h"

#if defined(__aarch64__) && !defined(__AARCH64EB__)
#include <arm_acle.h>
#include <arm_neon.h>
#include <sys/auxv.h>

// GCC 12 has vmull_p64 only with "+crypto", which is AES, PMULL and SHA.
#define PMULL_KERNEL __attribute__((target("+crypto")))
#define CRC_KERNEL __attribute__((target("+crc")))
#define INLINE static inline __attribute__((always_inline))

// Bits of AT_HWCAP, as the kernel's ABI numbers them.
enum { HAS_PMULL = 1 << 4, HAS_CRC32 = 1 << 7 };

INLINE PMULL_KERNEL uint64x2_t load16(const uint8_t *data) { return vreinterpretq_u64_u8(vld1q_u8(data)); }

INLINE PMULL_KERNEL uint64x2_t fold16(uint64x2_t state, struct ck_fold by, uint64x2_t next) {
  uint64x2_t low = vreinterpretq_u64_p128(vmull_p64(vgetq_lane_u64(state, 0), by.low));
  uint64x2_t high = vreinterpretq_u64_p128(vmull_p64(vgetq_lane_u64(state, 1), by.high));
  return veorq_u64(veorq_u64(low, high), next);
}

INLINE PMULL_KERNEL uint64_t finish16(const struct ck_model *model, uint64x2_t state, const uint8_t *data,
                                      size_t length) {
  for (; length >= 16; data += 16, length -= 16) state = fold16(state, model->by128, load16(data));
  uint8_t left[16];
  vst1q_u8(left, vreinterpretq_u8_u64(state));
  return ck_finish(model, left, data, length);
}

PMULL_KERNEL static uint64_t run_pmull(const struct ck_model *model, uint64_t crc, const uint8_t *data,
                                       size_t length) {
  if (length < 16) return ck_run_table(model, crc, data, length);
  uint64x2_t start = vsetq_lane_u64(crc, vdupq_n_u64(0), 0);
  if (length < 128) return finish16(model, veorq_u64(start, load16(data)), data + 16, length - 16);
  uint64x2_t state[8];
  for (int i = 0; i < 8; i++) state[i] = load16(data + 16 * i);
  state[0] = veorq_u64(state[0], start);
  for (data += 128, length -= 128; length >= 128; data += 128, length -= 128)
    for (int i = 0; i < 8; i++) state[i] = fold16(state[i], model->by1024, load16(data + 16 * i));
  for (int i = 1; i < 8; i++) state[i] = fold16(state[i - 1], model->by128, state[i]);
  return finish16(model, state[7], data, length);
}

CRC_KERNEL static uint64_t run_armcrc(const struct ck_model *model, uint64_t crc, const uint8_t *data, size_t length) {
  if (model->width != 32) return ck_run_table(model, crc, data, length);
  int castagnoli = model->polynomial == 0x82F63B78;
  uint32_t state = (uint32_t)crc;
  uint64_t word;
  if (castagnoli) {
    for (; length >= 8; data += 8, length -= 8) memcpy(&word, data, 8), state = __crc32cd(state, word);
    for (; length > 0; data++, length--) state = __crc32cb(state, *data);
  } else {
    for (; length >= 8; data += 8, length -= 8) memcpy(&word, data, 8), state = __crc32d(state, word);
    for (; length > 0; data++, length--) state = __crc32b(state, *data);
  }
  return state;
}

size_t ck_hardware_kernels(struct ck_kernel_entry *to) {
  size_t count = 0;
  unsigned long has = getauxval(AT_HWCAP);
  if (has & HAS_PMULL) to[count++] = (struct ck_kernel_entry){"pmull", run_pmull};
  if (has & HAS_CRC32) to[count++] = (struct ck_kernel_entry){"armcrc", run_armcrc};
  return count;
}
#endif
