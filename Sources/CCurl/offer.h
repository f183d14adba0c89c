// A piece of a file that libcurl sends in place of bytes in its buffer.
#ifndef S3UP_OFFER_H
#define S3UP_OFFER_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define S3UP_OFFER_FILE_ENDED -1

// One for each request. The caller's, and where it is until s3up_offer_end. It begins with `file` and `offset` set, `socket`
// -1 and the rest zero.
struct s3up_offer {
  int file, socket;
  // Where in the file the bytes are that `buffer` stands for, of which `sent` have gone out.
  int64_t offset;
  char *buffer;
  size_t length, sent;
  // What holds none of the process's memory any more.
  char *cleared;
  size_t cleared_length;
  // Why the file could not be read: an errno, or that it has fewer bytes.
  int problem;
  struct s3up_offer *next;
};

// There only where libcurl's send is ours (see lean.sh); with a shared libcurl they are NULL. To be called in every read
// callback, also in one that gives nothing: the file's next `length` bytes stand for these, which libcurl gave to be filled.
// 0 when libcurl does something with its buffer that is not known here.
__attribute__((weak)) int s3up_offer_more(struct s3up_offer *offer, char *buffer, size_t length);
// Nothing of it is sent any more.
__attribute__((weak)) void s3up_offer_end(struct s3up_offer *offer);
// What libcurl calls in place of send and close.
__attribute__((weak)) ssize_t s3up_send(int socket, const void *bytes, size_t length, int flags);
__attribute__((weak)) int s3up_close(int descriptor);
#endif
