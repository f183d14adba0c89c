// What the CRC kernels share. All three CRCs are reflected, so one kernel serves them all: only the constants differ.
//
// A register of 64 bits holds a polynomial whose bit i stands for x^(63-i); a 32-bit CRC sits in the low half of its
// running value and its constants in the high half of theirs. Multiplying two such registers without carries gives
// their product times x, which is why the exponents below are one less than the distance.
#ifndef S3UP_CRC_INTERNAL_H
#define S3UP_CRC_INTERNAL_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Moves 16 bytes of state ahead by a distance of D bits: `low` (x^(D+63) mod P) multiplies the first eight bytes,
// `high` (x^(D-1) mod P) the last eight.
struct ck_fold {
  uint64_t low, high;
};

struct ck_model {
  uint64_t polynomial;
  unsigned width;
  // table[k][b]: what byte b does to the checksum when k bytes follow it.
  uint64_t table[8][256];
  struct ck_fold by128, by512, by1024, by2048;
};

// Takes and returns the raw register, without the inversions at start and end.
typedef uint64_t ck_kernel(const struct ck_model *model, uint64_t state, const uint8_t *data, size_t length);

struct ck_kernel_entry {
  const char *name;
  ck_kernel *run;
};

enum { CK_MAX_KERNELS = 4 };

void ck_build_model(struct ck_model *model, uint64_t polynomial, unsigned width);
ck_kernel ck_run_table;
// Writes the hardware kernels that this CPU supports, best first, and returns their number (less than CK_MAX_KERNELS).
size_t ck_hardware_kernels(struct ck_kernel_entry *to);

// The end of a folding kernel, for 16 bytes of state and less than a block of data.
static inline uint64_t ck_finish(const struct ck_model *model, const uint8_t state[16], const uint8_t *data,
                                 size_t length) {
  return ck_run_table(model, ck_run_table(model, 0, state, 16), data, length);
}
#endif
