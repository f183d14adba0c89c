// TLS as libcurl does it with OpenSSL, made cheaper. `connection` is the SSL* that CURLINFO_TLS_SSL_PTR gives, `context`
// the SSL_CTX* that CURLOPT_SSL_CTX_FUNCTION gives.
#ifndef S3UP_CKGATHER_H
#define S3UP_CKGATHER_H
#include <stddef.h>

// 1 when `version` (curl_version_info's ssl_version) is the OpenSSL that this program is linked to. Only then may the
// functions below be called: another library's objects look different inside.
int ck_is_same_openssl(const char *version);

// Says that the next SSL_write on this connection will be given `count` bytes: their records leave in as few sends as
// fit 272 KiB. More bytes than that cost a send more; of fewer the last could wait for the next write. 1 when the
// records will be gathered, 0 when they go out one by one as ever.
int ck_gather_expect(void *connection, size_t count);

// How many connections have gathered since the process began, for tests.
size_t ck_gather_connections(void);

// AES-128-GCM before the other ciphers of TLS 1.3 where it is among them; the set stays what it was. 1 when it is first.
int ck_prefer_aes128(void *context);
#endif
