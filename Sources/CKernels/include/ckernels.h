// The only C that s3up owns: checksums in hardware, and reads of mapped memory that answer an error instead of SIGBUS.
#ifndef S3UP_CKERNELS_H
#define S3UP_CKERNELS_H
#include <stddef.h>
#include <stdint.h>

// Running checksums: start with 0, pass the last result on; the final value is the returned one.
uint32_t ck_crc32(uint32_t crc, const void *data, size_t length);
uint32_t ck_crc32c(uint32_t crc, const void *data, size_t length);
uint64_t ck_crc64nvme(uint64_t crc, const void *data, size_t length);
// The same over mapped memory whose file may shrink: 0, or -1 when a page is gone (*crc is then unchanged).
int ck_guarded_crc32(uint32_t *crc, const void *mapped, size_t length);
int ck_guarded_crc32c(uint32_t *crc, const void *mapped, size_t length);
int ck_guarded_crc64nvme(uint64_t *crc, const void *mapped, size_t length);
// Copies out of a mapping: 0, or -1 when a page is gone.
int ck_guarded_read(void *to, const void *mapped, size_t length);

// The portable forms, for tests, and the name of what was chosen ("vpclmulqdq", "pclmulqdq", "pmull", "portable").
uint32_t ck_crc32_portable(uint32_t crc, const void *data, size_t length);
uint32_t ck_crc32c_portable(uint32_t crc, const void *data, size_t length);
uint64_t ck_crc64nvme_portable(uint64_t crc, const void *data, size_t length);
const char *ck_crc_kernel(void);
#endif
