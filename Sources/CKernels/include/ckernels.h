// Checksums in hardware, and kernel functions that only C can use.
#ifndef S3UP_CKERNELS_H
#define S3UP_CKERNELS_H
#include "ckguard.h"
#include "ckmd5.h"
#include "cksha256.h"
#include <stddef.h>
#include <stdint.h>

// Running checksums: start with 0 and pass the last result to the next call; the last result is the checksum.
uint32_t ck_crc32(uint32_t crc, const void *data, size_t length);
uint32_t ck_crc32c(uint32_t crc, const void *data, size_t length);
uint64_t ck_crc64nvme(uint64_t crc, const void *data, size_t length);

// The portable implementations, for tests, and the name of the one in use ("vpclmulqdq", "pclmulqdq", "pmull", "armcrc",
// "portable").
uint32_t ck_crc32_portable(uint32_t crc, const void *data, size_t length);
uint32_t ck_crc32c_portable(uint32_t crc, const void *data, size_t length);
uint64_t ck_crc64nvme_portable(uint64_t crc, const void *data, size_t length);
const char *ck_crc_kernel(void);

// Every kernel that this CPU supports, best first, for tests and measurements: the name of the index-th, NULL after the
// last, and one run of it. An unknown algorithm or index leaves the checksum unchanged.
#define CK_CRC32 0
#define CK_CRC32C 1
#define CK_CRC64NVME 2
const char *ck_kernel_name(size_t index);
uint64_t ck_kernel_run(size_t index, int algorithm, uint64_t crc, const void *data, size_t length);

// Renames a file of a folder unless the new name is taken (renameat2 with RENAME_NOREPLACE), and gives a file its
// length with its blocks (fallocate), which Swift's Glibc lacks: 0 or errno.
int ck_rename_new(int folder, const char *from, const char *to);
int ck_allocate(int file, int64_t length);
// pipe2 with O_CLOEXEC; the error, or 0.
int ck_pipe(int ends[2], int isNonblocking);

// Prevents core files of this process, and other processes of the same user from reading its memory, which contains
// keys and tokens. In C, because prctl is variadic and Swift cannot call it.
void ck_forbid_core_files(void);

// What the kernel knows about a TCP connection. glibc's tcp_info is older than the kernel's and lacks the segments sent.
struct ck_line {
  uint64_t sent;        // segments with data
  uint64_t sent_again;  // how often one of them was sent again
  uint32_t round_trip;  // microseconds, smoothed
  uint32_t shortest;    // microseconds: the shortest of the last minutes, or the smoothed one
  uint64_t held;           // microseconds in which only the line's own speed held the connection back
  uint64_t acknowledged;   // bytes
  uint64_t received;       // bytes
  uint64_t incoming;       // segments with data that were received
  uint64_t out_of_order;   // those that arrived while an earlier one was missing; counted since Linux 5.4
};
// Reads TCP_INFO: 0 or errno.
int ck_line_read(int socket, struct ck_line *line);
// The most bytes that wait in the kernel to be sent for the first time (TCP_NOTSENT_LOWAT): 0 or errno.
int ck_line_unsent(int socket, int bytes);
// Sets TCP_CONGESTION by name: 0 or errno.
int ck_line_control(int socket, const char *name);

// How many cores this process may use; less than the machine has in a container or under taskset. 1 if unknown.
int ck_processors(void);
#endif
