#define _GNU_SOURCE
#include "ckernels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int ck_rename_new(int folder, const char *from, const char *to) {
  return renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

int ck_pipe(int ends[2], int isNonblocking) {
  return pipe2(ends, O_CLOEXEC | (isNonblocking ? O_NONBLOCK : 0)) == 0 ? 0 : errno;
}

int ck_allocate(int file, int64_t length) {
  int result;
  do {
    result = fallocate(file, 0, 0, length) == 0 ? 0 : errno;
  } while (result == EINTR);
  return result;
}
