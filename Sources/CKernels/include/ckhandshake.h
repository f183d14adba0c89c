// Why a TLS handshake failed on the server's side, which libcurl reports only as a sentence.
#ifndef S3UP_CKHANDSHAKE_H
#define S3UP_CKHANDSHAKE_H

struct ck_handshake;

// Watches the connections of an SSL_CTX of this OpenSSL. The returned value stays valid until it is released, even after
// the connection; NULL without memory.
struct ck_handshake *ck_handshake_watch(void *context);
void ck_handshake_release(struct ck_handshake *handshake);

// 1 if the first bytes received were not a TLS record.
int ck_handshake_is_foreign(const struct ck_handshake *handshake);
// The fatal alert that the server sent (RFC 8446, 6); -1 if none.
int ck_handshake_alert(const struct ck_handshake *handshake);
#endif
