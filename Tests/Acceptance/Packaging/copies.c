// Preloaded into a program: adds up in the file $COPIES how many bytes it copies with memcpy and memmove, a page or more at
// a time. 64 bits, in the machine's order.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint64_t *sum;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("COPIES");
  int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof *sum)) return;
  void *page = mmap(NULL, sizeof *sum, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED) sum = page;
}

void *memmove(void *to, const void *from, size_t count) {
  if (sum && count >= 4096) atomic_fetch_add(sum, count);
  char *at = to;
  const char *source = from;
  // `rep movsb` is not a call that the compiler could turn into this function again.
  if (at <= source || at >= source + count) {
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(source), "+c"(count) : : "memory");
  } else {
    at += count - 1, source += count - 1;
    __asm__ volatile("std; rep movsb; cld" : "+D"(at), "+S"(source), "+c"(count) : : "memory");
  }
  return to;
}

void *memcpy(void *to, const void *from, size_t count) { return memmove(to, from, count); }
