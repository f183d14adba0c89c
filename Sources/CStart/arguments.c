// To find the command's arguments, Swift's runtime reads all of /proc/self/maps before main: with 40 libraries that is 200
// lines and a thirtieth of a small upload, and without /proc there are no arguments. The C library passes them to every
// constructor.
//
// The linker takes this in place of the runtime's object of the same symbol, which is then not in the binary. It is weak, so
// that a runtime which needs that object for something else still links.
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
