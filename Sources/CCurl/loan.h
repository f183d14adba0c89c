// Memory that a read callback lends to libcurl, which then sends it without a copy. Only the libcurl that Packaging/ builds
// knows the option; any other answers CURLE_UNKNOWN_OPTION.
#ifndef S3UP_LOAN_H
#define S3UP_LOAN_H

// The callback sets it in place of filling libcurl's buffer, and returns how many bytes it lends; libcurl takes it and sets
// it to NULL. The memory must stay until libcurl asks for more or the transfer has ended.
struct s3up_loan {
  const char *bytes;
};

// A struct s3up_loan * that stays valid during the transfer (10000: CURLOPTTYPE_OBJECTPOINT).
#define S3UP_CURLOPT_LOAN (10000 + 9001)
#endif
