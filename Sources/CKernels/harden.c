#include "ckernels.h"

#include <sys/prctl.h>
#include <sys/resource.h>

void ck_forbid_core_files(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // The limit on core files has no effect if core_pattern is a pipe; this call does.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
