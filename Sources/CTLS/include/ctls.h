// Functions that use OpenSSL directly, in addition to libcurl.
#ifndef S3UP_CTLS_H
#define S3UP_CTLS_H
#include "gather.h"
#include "handshake.h"
#include "trust.h"
#endif
