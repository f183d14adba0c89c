// Keeps the process alive when a page of a mapped file cannot be read: the file was truncated, or reading it failed.
#ifndef S3UP_CKGUARD_H
#define S3UP_CKGUARD_H
#include <stddef.h>

// Guards a mapping from its first page on. Returns its number, or -1 if too many are already guarded or SIGBUS cannot
// be handled. A fault in it then puts zero pages in place of that page and of all that follow, and is recorded. Other
// faults go to the handler of SIGBUS from before the first call. Unblocks SIGBUS in this thread.
int ck_guard_begin(const void *start, size_t length);
// The first address that could not be read; NULL if there was none.
const void *ck_guard_fault(int number);
// Reads a byte of each page, because a fault that only the kernel has met leaves no mark.
void ck_guard_touch(const void *start, size_t length);
// Must be called before the memory is unmapped.
void ck_guard_end(int number);
#endif
