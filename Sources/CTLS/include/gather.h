// Makes TLS with libcurl and OpenSSL cheaper. `connection` is the SSL* from CURLINFO_TLS_SSL_PTR, `context` the
// SSL_CTX* from CURLOPT_SSL_CTX_FUNCTION.
#ifndef S3UP_CTLS_GATHER_H
#define S3UP_CTLS_GATHER_H
#include <stddef.h>

// 1 if `version` (curl_version_info's ssl_version) is the OpenSSL that this program is linked to. The functions below may
// be called only then: another library's structures differ.
int ctls_is_same_openssl(const char *version);

// Announces that the next SSL_write on this connection gets `count` bytes: their records are sent in as few sends as fit
// 272 KiB. If more bytes are written, that costs one more send; if fewer, the last could wait for the next write. Returns
// 1 if the records will be collected, 0 if each is sent on its own as usual.
int ctls_gather_expect(void *connection, size_t count);

// How many connections have collected records since the process began, for tests.
size_t ctls_gather_connections(void);

// Puts AES-128-GCM before the other ciphers of TLS 1.3 if it is among them; the set does not change. Returns 1 if it is
// first.
int ctls_prefer_aes128(void *context);
#endif
