#define _GNU_SOURCE
#include "ckernels.h"

#include <sched.h>

int ck_processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}
