// CRCs by carry-less multiplication on x86: folds the state over the data until 16 bytes are left.
#include "crc_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SSE_KERNEL __attribute__((target("pclmul,sse4.1")))
#define AVX512_KERNEL __attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.1")))
#define INLINE static inline __attribute__((always_inline))

INLINE SSE_KERNEL __m128i constants(struct ck_fold fold) {
  return _mm_set_epi64x((long long)fold.high, (long long)fold.low);
}

INLINE SSE_KERNEL __m128i load16(const uint8_t *data) { return _mm_loadu_si128((const __m128i *)data); }

INLINE SSE_KERNEL __m128i fold16(__m128i state, __m128i by, __m128i next) {
  __m128i moved = _mm_xor_si128(_mm_clmulepi64_si128(state, by, 0x00), _mm_clmulepi64_si128(state, by, 0x11));
  return _mm_xor_si128(moved, next);
}

INLINE SSE_KERNEL uint64_t finish16(const struct ck_model *model, __m128i state, const uint8_t *data, size_t length) {
  __m128i by128 = constants(model->by128);
  for (; length >= 16; data += 16, length -= 16) state = fold16(state, by128, load16(data));
  uint8_t left[16];
  _mm_storeu_si128((__m128i *)left, state);
  return ck_finish(model, left, data, length);
}

// Eight registers hide the latency of the multiplication (4 to 7 cycles).
SSE_KERNEL static uint64_t run_pclmulqdq(const struct ck_model *model, uint64_t crc, const uint8_t *data,
                                         size_t length) {
  if (length < 16) return ck_run_table(model, crc, data, length);
  __m128i start = _mm_cvtsi64_si128((long long)crc);
  if (length < 128) return finish16(model, _mm_xor_si128(start, load16(data)), data + 16, length - 16);
  __m128i state[8], by1024 = constants(model->by1024), by128 = constants(model->by128);
  for (int i = 0; i < 8; i++) state[i] = load16(data + 16 * i);
  state[0] = _mm_xor_si128(state[0], start);
  for (data += 128, length -= 128; length >= 128; data += 128, length -= 128)
    for (int i = 0; i < 8; i++) state[i] = fold16(state[i], by1024, load16(data + 16 * i));
  for (int i = 1; i < 8; i++) state[i] = fold16(state[i - 1], by128, state[i]);
  return finish16(model, state[7], data, length);
}

INLINE AVX512_KERNEL __m512i fold64(__m512i state, __m512i by, __m512i next) {
  // 0x96: the XOR of all three.
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(state, by, 0x00),
                                   _mm512_clmulepi64_epi128(state, by, 0x11), next, 0x96);
}

AVX512_KERNEL static uint64_t run_vpclmulqdq(const struct ck_model *model, uint64_t crc, const uint8_t *data,
                                             size_t length) {
  if (length < 64) return run_pclmulqdq(model, crc, data, length);
  __m512i start = _mm512_zextsi128_si512(_mm_cvtsi64_si128((long long)crc));
  __m512i by512 = _mm512_broadcast_i32x4(constants(model->by512));
  __m512i wide = _mm512_xor_si512(start, _mm512_loadu_si512(data));
  if (length >= 256) {
    __m512i state[4] = {wide}, by2048 = _mm512_broadcast_i32x4(constants(model->by2048));
    for (int i = 1; i < 4; i++) state[i] = _mm512_loadu_si512(data + 64 * i);
    for (data += 256, length -= 256; length >= 256; data += 256, length -= 256)
      for (int i = 0; i < 4; i++) state[i] = fold64(state[i], by2048, _mm512_loadu_si512(data + 64 * i));
    for (int i = 1; i < 4; i++) state[i] = fold64(state[i - 1], by512, state[i]);
    wide = state[3];
  } else {
    data += 64;
    length -= 64;
  }
  for (; length >= 64; data += 64, length -= 64) wide = fold64(wide, by512, _mm512_loadu_si512(data));
  __m128i by128 = constants(model->by128), state = _mm512_castsi512_si128(wide);
  state = fold16(state, by128, _mm512_extracti32x4_epi32(wide, 1));
  state = fold16(state, by128, _mm512_extracti32x4_epi32(wide, 2));
  state = fold16(state, by128, _mm512_extracti32x4_epi32(wide, 3));
  return finish16(model, state, data, length);
}

size_t ck_hardware_kernels(struct ck_kernel_entry *to) {
  size_t count = 0;
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return 0;
  // The check for avx512f includes that the operating system saves its registers.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq"))
    to[count++] = (struct ck_kernel_entry){"vpclmulqdq", run_vpclmulqdq};
  to[count++] = (struct ck_kernel_entry){"pclmulqdq", run_pclmulqdq};
  return count;
}
#endif
