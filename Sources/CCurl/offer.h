// A piece of a file that libcurl sends in place of bytes in its buffer.
#ifndef S3UP_OFFER_H
#define S3UP_OFFER_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define S3UP_OFFER_FILE_ENDED -1

// One per request, owned by the caller, and at a fixed address until s3up_offer_end. To begin with, `file` and `offset`
// are set, `socket` is -1 and the rest is zero.
struct s3up_offer {
  int file, socket;
  // Where in the file the bytes are that `buffer` stands for, and how many of them (`sent`) have been sent.
  int64_t offset;
  char *buffer;
  size_t length, sent;
  // The buffer that was zeroed, so that it holds none of the process's memory.
  char *cleared;
  size_t cleared_length;
  // Why the file could not be read: an errno, or a value for a file that is shorter than expected.
  int problem;
  struct s3up_offer *next;
};

// Present only if libcurl's send is replaced (see lean.sh); NULL with a shared libcurl. To be called in every read callback,
// also in one that returns no bytes: the file's next `length` bytes stand for these, which libcurl gave to be filled. Returns
// 0 if libcurl uses its buffer in a way that is not known here.
__attribute__((weak)) int s3up_offer_more(struct s3up_offer *offer, char *buffer, size_t length);
// Nothing of the offer is sent after this.
__attribute__((weak)) void s3up_offer_end(struct s3up_offer *offer);
// libcurl calls these instead of send and close.
__attribute__((weak)) ssize_t s3up_send(int socket, const void *bytes, size_t length, int flags);
__attribute__((weak)) int s3up_close(int descriptor);
#endif
