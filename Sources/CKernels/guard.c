// Code in the signal handler calls nothing but sigaction, raise and mmap, reads only atomics, and never waits.
#include "include/ckguard.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1024 };

// Only a mapping's owner reads its bytes, so a slot cannot change while a fault in it is handled.
static struct {
  // 0: free. RESERVED: its owner is setting the other fields.
  atomic_uintptr_t start;
  atomic_size_t length;
  atomic_uintptr_t fault;
} slots[MOST];
enum { RESERVED = 1 };

// No slot from this number on was ever used.
static atomic_int used;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction previous;
static int is_ready;
static uintptr_t page;
static sigset_t bus;

static void pass_on(int number, siginfo_t *info, void *context) {
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(number, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(number);
  int is_fault = info->si_code > 0;
  if (!is_fault && previous.sa_handler == SIG_IGN) return;
  // The access is repeated after the return, and ends the process like any fault.
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(SIGBUS, &standard, NULL);
  if (!is_fault) raise(SIGBUS);
}

// 1 if there are now zero pages from `at` on.
static int replace(uintptr_t at) {
  for (int i = 0, count = atomic_load(&used); i < count; i++) {
    uintptr_t start = atomic_load(&slots[i].start);
    size_t length = atomic_load(&slots[i].length);
    if (start <= RESERVED || at < start || at - start >= length) continue;
    // Another mapping has since taken the slot, and the length is that mapping's.
    if (atomic_load(&slots[i].start) != start) continue;
    // Recorded first, so that a reader of zeros on another thread finds it.
    uintptr_t none = 0;
    atomic_compare_exchange_strong(&slots[i].fault, &none, at);
    void *first = (void *)(at & ~(page - 1));
    size_t rest = start + length - (uintptr_t)first;
    return mmap(first, rest, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == first;
  }
  return 0;
}

static void handle(int number, siginfo_t *info, void *context) {
  int before = errno;
  // A SIGBUS that was sent by a process has no address.
  if (info->si_code <= 0 || !replace((uintptr_t)info->si_addr)) pass_on(number, info, context);
  errno = before;
}

static void prepare(void) {
  page = (uintptr_t)sysconf(_SC_PAGESIZE);
  struct sigaction own = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigemptyset(&own.sa_mask);
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  is_ready = sigaction(SIGBUS, NULL, &previous) == 0 && sigaction(SIGBUS, &own, NULL) == 0;
}

int ck_guard_begin(const void *start, size_t length) {
  pthread_once(&once, prepare);
  if (!is_ready || !length) return -1;
  // Where SIGBUS is blocked, a fault ends the process whatever its handler. A thread of Swift's pool inherits its mask
  // from the thread that started it.
  pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
  for (int i = 0; i < MOST; i++) {
    uintptr_t none = 0;
    if (!atomic_compare_exchange_strong(&slots[i].start, &none, RESERVED)) continue;
    atomic_store(&slots[i].length, (length + page - 1) & ~(page - 1));
    atomic_store(&slots[i].fault, 0);
    int count = atomic_load(&used);
    while (count <= i && !atomic_compare_exchange_weak(&used, &count, i + 1)) {}
    atomic_store(&slots[i].start, (uintptr_t)start);
    return i;
  }
  return -1;
}

const void *ck_guard_fault(int number) { return (const void *)atomic_load(&slots[number].fault); }

void ck_guard_touch(const void *start, size_t length) {
  const volatile char *bytes = start;
  for (size_t at = 0; at < length; at += page) (void)bytes[at];
  if (length) (void)bytes[length - 1];
}

void ck_guard_end(int number) { atomic_store(&slots[number].start, 0); }
