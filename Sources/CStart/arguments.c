// Swift's runtime looks for the words of the command line by reading all of /proc/self/maps before main: 40 libraries
// make that 200 lines and a thirtieth of a small upload, and without /proc there are no words. The C library hands them
// to every constructor.
//
// The linker takes this in place of the runtime's object of the same symbol, which then is not in the binary. Weak, so
// that a runtime which needs that object for something else goes on as if this were not here.
#include "include/cstart.h"

static int words;
static char **list;

__attribute__((constructor)) static void keep(int argc, char **argv, char **environment) {
  (void)environment;
  words = argc;
  list = argv;
}

__attribute__((weak)) char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
  *count = words;
  return list;
}
