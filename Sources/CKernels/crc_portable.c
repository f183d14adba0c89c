// The CRC by tables, eight bytes per step ("slicing by 8"), and the constants of every other kernel.
#include "crc_internal.h"

// One step of the shift register: times x, modulo P.
static uint64_t times_x(uint64_t value, uint64_t polynomial) {
  return (value >> 1) ^ (value & 1 ? polynomial : 0);
}

void ck_build_model(struct ck_model *model, uint64_t polynomial, unsigned width) {
  model->polynomial = polynomial;
  model->width = width;
  for (unsigned byte = 0; byte < 256; byte++) {
    uint64_t value = byte;
    for (int bit = 0; bit < 8; bit++) value = times_x(value, polynomial);
    model->table[0][byte] = value;
  }
  for (int k = 1; k < 8; k++)
    for (unsigned byte = 0; byte < 256; byte++) {
      uint64_t before = model->table[k - 1][byte];
      model->table[k][byte] = (before >> 8) ^ model->table[0][before & 255];
    }
  struct {
    unsigned distance;
    struct ck_fold *fold;
  } folds[] = {{128, &model->by128}, {512, &model->by512}, {1024, &model->by1024}, {2048, &model->by2048}};
  uint64_t power = (uint64_t)1 << (width - 1);  // x^0
  for (unsigned exponent = 0; exponent <= 2048 + 63; exponent++) {
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
      if (exponent == folds[i].distance - 1) folds[i].fold->high = power << (64 - width);
      if (exponent == folds[i].distance + 63) folds[i].fold->low = power << (64 - width);
    }
    power = times_x(power, polynomial);
  }
}

static uint64_t load_little_endian(const uint8_t *data) {
  uint64_t value;
  memcpy(&value, data, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

uint64_t ck_run_table(const struct ck_model *model, uint64_t state, const uint8_t *data, size_t length) {
  for (; length >= 8; data += 8, length -= 8) {
    uint64_t word = state ^ load_little_endian(data);
    state = model->table[7][word & 255] ^ model->table[6][word >> 8 & 255] ^ model->table[5][word >> 16 & 255] ^
            model->table[4][word >> 24 & 255] ^ model->table[3][word >> 32 & 255] ^
            model->table[2][word >> 40 & 255] ^ model->table[1][word >> 48 & 255] ^ model->table[0][word >> 56];
  }
  for (; length > 0; data++, length--) state = (state >> 8) ^ model->table[0][(state ^ *data) & 255];
  return state;
}
