// Reads of mapped memory that answer -1 where the page is gone: the file was cut short under the mapping, or its disk
// gave an error. The kernel says so with SIGBUS to the thread that reads, in the middle of the load.
//
// A thread about to read states the range in its own memory and marks where to go on (no system call: the signal mask
// is not saved; the handler knows it from the interrupted context). The handler jumps only for a fault inside that
// range.
#define _GNU_SOURCE
#include "include/ckernels.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

struct guard {
  sigjmp_buf resume;
  volatile uintptr_t from, length;
  int ready;
};

// initial-exec: the handler must reach it without the allocation that a lazily made thread variable can need.
static _Thread_local __attribute__((tls_model("initial-exec"))) struct guard guard;
static struct sigaction previous;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// A SIGBUS that is not ours goes to who had it before. Without such a handler the old disposition is put back: a
// faulting load runs again and ends the process as it would have without us; a sent signal is sent again.
static void pass_on(int number, siginfo_t *info, void *context) {
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  } else if (info->si_code > 0) {
    sigaction(SIGBUS, &previous, NULL);
  } else if (previous.sa_handler == SIG_DFL) {
    sigaction(SIGBUS, &previous, NULL);
    raise(SIGBUS);
  }
}

static void on_sigbus(int number, siginfo_t *info, void *context) {
  // A code above zero: the kernel's word about a load of this thread, not a signal that somebody sent.
  if (info->si_code > 0 && (uintptr_t)info->si_addr - guard.from < guard.length) {
    // The jump skips the return that would put the mask back. SIGBUS is blocked here, and more of them where a
    // sanitizer or a later handler stands between the kernel and us.
    pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL);
    siglongjmp(guard.resume, 1);
  }
  pass_on(number, info, context);
}

static void install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_sigbus;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // `previous` must be whole before the handler can run.
  sigaction(SIGBUS, NULL, &previous);
  sigaction(SIGBUS, &action, NULL);
}

// A fault while SIGBUS is blocked kills the process whatever handler there is, and threads are often started with
// every signal blocked.
static void prepare(void) {
  pthread_once(&once, install);
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
  guard.ready = 1;
}

struct job {
  void (*work)(struct job *job);
  const void *mapped;
  size_t length;
  void *to;
  uint64_t crc;
};

static int guarded(struct job *job) {
  if (!guard.ready) prepare();
  if (sigsetjmp(guard.resume, 0) != 0) {
    guard.length = 0;
    return -1;
  }
  guard.from = (uintptr_t)job->mapped;
  guard.length = job->length;
  // The fences keep the compiler from moving the reads out of the guarded stretch.
  atomic_signal_fence(memory_order_seq_cst);
  job->work(job);
  atomic_signal_fence(memory_order_seq_cst);
  guard.length = 0;
  return 0;
}

static void work_crc32(struct job *job) { job->crc = ck_crc32((uint32_t)job->crc, job->mapped, job->length); }
static void work_crc32c(struct job *job) { job->crc = ck_crc32c((uint32_t)job->crc, job->mapped, job->length); }
static void work_crc64nvme(struct job *job) { job->crc = ck_crc64nvme(job->crc, job->mapped, job->length); }
static void work_read(struct job *job) { memcpy(job->to, job->mapped, job->length); }

int ck_guarded_crc32(uint32_t *crc, const void *mapped, size_t length) {
  struct job job = {work_crc32, mapped, length, NULL, *crc};
  if (guarded(&job) != 0) return -1;
  *crc = (uint32_t)job.crc;
  return 0;
}

int ck_guarded_crc32c(uint32_t *crc, const void *mapped, size_t length) {
  struct job job = {work_crc32c, mapped, length, NULL, *crc};
  if (guarded(&job) != 0) return -1;
  *crc = (uint32_t)job.crc;
  return 0;
}

int ck_guarded_crc64nvme(uint64_t *crc, const void *mapped, size_t length) {
  struct job job = {work_crc64nvme, mapped, length, NULL, *crc};
  if (guarded(&job) != 0) return -1;
  *crc = job.crc;
  return 0;
}

int ck_guarded_read(void *to, const void *mapped, size_t length) {
  if (length == 0) return 0;
  struct job job = {work_read, mapped, length, to, 0};
  return guarded(&job);
}
