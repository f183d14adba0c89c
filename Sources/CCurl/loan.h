// Memory that a read callback lends to libcurl, which then sends it without a copy. Only the libcurl that Packaging/
// builds knows the option; any other returns CURLE_UNKNOWN_OPTION.
#ifndef S3UP_LOAN_H
#define S3UP_LOAN_H

// Set by the callback instead of filling libcurl's buffer; the callback returns how many bytes it lends, and libcurl
// takes the pointer and sets it to NULL. The memory must stay valid until libcurl asks for more or the transfer has
// ended.
struct s3up_loan {
  const char *bytes;
};

// A struct s3up_loan * that stays valid during the transfer (10000: CURLOPTTYPE_OBJECTPOINT).
#define S3UP_CURLOPT_LOAN (10000 + 9001)
#endif
