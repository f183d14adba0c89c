#!/bin/bash
# lend.sh LIBCURL: changes the sources of a libcurl 7.88 so that a read callback may lend its memory instead of filling
# the given buffer (see Sources/CCurl/loan.h). Ends with an error unless each place exists exactly once.
set -euo pipefail
cp "$(dirname "$0")/../CCurl/loan.h" "$1/lib"
cd "$1/lib"

before() { # before FILE TEXT: the lines of standard input go before the only line of the file that contains the text
  local at
  at=$({ grep -nF -- "$2" "$1" || true; } | cut -d: -f1)
  [[ $at =~ ^[0-9]+$ ]] || {
    echo "lend: $1 has not one line with: $2" >&2
    exit 1
  }
  sed -i "$((at - 1))r /dev/stdin" "$1"
}

# The option. curl_easy_reset resets it, like all others.
before urldata.h 'struct UserDefined {' <<'C'
#include "loan.h"
C
before urldata.h 'curl_read_callback fread_func_set;' <<'C'
  struct s3up_loan *s3up_loan;
C
before setopt.c 'case CURLOPT_READFUNCTION:' <<'C'
  case S3UP_CURLOPT_LOAN:
    data->set.s3up_loan = va_arg(param, struct s3up_loan *);
    break;
C

# libcurl moves less than 8 KiB that are left of a buffer to its front, and asks for more to put after them. Nothing can
# be put after lent bytes, nor lent bytes after what is in the buffer, such as the request's headers; so what is left is
# sent first. That makes `offset` 0 below.
before transfer.c 'k->upload_present < curl_upload_refill_watermark(data) &&' <<'C'
       !data->set.s3up_loan &&
C
# Only a callback that is called here lends; what one set while libcurl skipped bytes is not sent in place of headers.
before transfer.c 'k->upload_fromhere += offset;' <<'C'
        if(data->set.s3up_loan)
          data->set.s3up_loan->bytes = NULL;
C
# Partial sends, a full socket and TLS's repeated write advance or keep this pointer; when all is sent it points to the
# buffer again. The length of a chunk would have been written around the bytes in the buffer.
before transfer.c 'nread = offset + fillcount;' <<'C'
        if(data->set.s3up_loan && data->set.s3up_loan->bytes) {
          if(k->upload_chunky) {
            failf(data, "lent bytes cannot be sent in chunks");
            return CURLE_READ_ERROR;
          }
          k->upload_fromhere = (char *)data->set.s3up_loan->bytes;
          data->set.s3up_loan->bytes = NULL;
        }
C
