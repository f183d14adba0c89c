// The sink of the benchmark: an S3 endpoint that answers like a store and drops the bodies, so that the machine's time goes
// to the measured client. It verifies nothing. One thread, one epoll loop.
//   net.c  connections and HTTP/1.1 framing             s3.c    the meaning of the requests
//   tls.c  TLS 1.3, a certificate created at the start  text.c  buffers, query parameters, escaping
//   give.c objects that have bodies, and lists
#ifndef SINK_H
#define SINK_H
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_HEADERS = 64, MAX_HEAD = 64 << 10, MAX_KEPT_BODY = 4 << 20, MAX_PARTS = 10000 };

// text.c
typedef struct { char *p; size_t n, cap; } Buffer;     // always followed by a NUL
void buffer_add(Buffer *b, const void *p, size_t n);
void buffer_fmt(Buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buffer_xml(Buffer *b, const char *s);              // with & < > " escaped
void unescape(char *dst, size_t cap, const char *s, size_t n);                      // percent-decoded
int parameter(const char *query, const char *name, char *dst, size_t cap);          // 1 when it is there

typedef struct { char *name, *value; } Header;

enum Kind { CREATE, PART, PUT, COMPLETE, ABORT, LIST_PARTS, HEAD_OBJECT, HEAD_BUCKET, CREATE_BUCKET, LIST_OBJECTS, GET_OBJECT, STATS, OTHER, KINDS };

typedef struct {
    enum Kind kind;
    char *method, *path, *query;    // in the connection's head buffer, NUL-terminated, as sent
    char object[2400];              // bucket/key, decoded
    char upload_id[64];
    int part_number, close;
    Header headers[MAX_HEADERS];
    int header_count;
    uint64_t size;                  // of the body, without the framing of HTTP's chunks
    const char *give;               // what follows the answer's head, if it is not in the buffer
    uint64_t give_size;
} Request;

struct Stats {
    uint64_t requests[KINDS], body_bytes, given_bytes, connections, open, max_open;
    char cipher[96];
};
extern struct Stats stats;

// s3.c
void s3_route(Request *q);
int s3_keeps_body(enum Kind k);
void s3_answer(Request *q, const char *body, Buffer *out);     // appends the whole response
const char *header(const Request *q, const char *name);

// give.c
typedef struct { char *key, etag[48], crc[16]; const char *body; uint64_t size; } Given;
void give(const char *path);
void give_keys(long wanted);
void give_ready(void);                                         // after all of them
const Given *given(const char *object);
int give_headers(const Request *q, const Given *g, Buffer *headers, uint64_t *from, uint64_t *n);
void give_list(const Request *q, Buffer *xml);

enum { FULL_RECORD = (1 << 14) + 17 };      // with its type and its tag

// tls.c. A record that contains only bytes of a body is dropped without being decrypted: it costs the sink one copy out of
// the socket. So records are read here and not by OpenSSL, which does the handshake and the answers.
typedef struct {
    EVP_CIPHER_CTX *gcm;
    unsigned char secret[64], iv[12], head[5], *record;
    int secret_length, head_have, skip;
    int bodies, uneven;             // how many bodies were read, and whether a record within one was not a full one
    uint64_t sequence;
    size_t length, have;            // of the current record
} Records;
SSL_CTX *tls_context(const char *ca_file, const char *address); // writes the authority's certificate to the file
int records_start(Records *r, SSL *s);                         // after the handshake; 0 when it cannot be done
int records_open(Records *r, unsigned char *record, size_t n); // in place; the length with the type byte, or -1
#endif
