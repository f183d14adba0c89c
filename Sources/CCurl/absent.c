// Replacements for functions of omitted libraries that libcurl's archive may really call: when it is initialised, asked for
// its version, or told by a server that a body is compressed. For all others lean.sh makes functions that end the process:
// no HTTP/1.1 request over TCP or TLS calls them.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void absent(const char *name);
void absent(const char *name) {
    static const char what[] = "libcurl called what this program is built without: ";
    if (write(2, what, sizeof what - 1) < 0 || write(2, name, strlen(name)) < 0 || write(2, "\n", 1) < 0) abort();
    abort();
}

// A body that the server says is compressed, though nobody asked for that: an error of the transfer.
enum { wrong_stream = -2 };  // Z_STREAM_ERROR
int inflateInit_(void *stream, const char *version, int size);
int inflateInit_(void *stream, const char *version, int size) {
    (void)stream, (void)version, (void)size;
    return wrong_stream;
}
int inflateInit2_(void *stream, int bits, const char *version, int size);
int inflateInit2_(void *stream, int bits, const char *version, int size) {
    (void)stream, (void)bits, (void)version, (void)size;
    return wrong_stream;
}
int inflate(void *stream, int flush);
int inflate(void *stream, int flush) {
    (void)stream, (void)flush;
    return wrong_stream;
}
int inflateEnd(void *stream);
int inflateEnd(void *stream) {
    (void)stream;
    return wrong_stream;
}
void *BrotliDecoderCreateInstance(void *allocate, void *release, void *context);
void *BrotliDecoderCreateInstance(void *allocate, void *release, void *context) {
    (void)allocate, (void)release, (void)context;
    return NULL;
}
void *ZSTD_createDStream(void);
void *ZSTD_createDStream(void) { return NULL; }

// Without libidn2 names are looked up as they are written. Endpoints must be ASCII.
const char *idn2_check_version(const char *wanted);
const char *idn2_check_version(const char *wanted) {
    (void)wanted;
    return NULL;
}

// Called by curl_global_init: libssh2's, and libssh's.
int libssh2_init(int flags);
int libssh2_init(int flags) {
    (void)flags;
    return 0;
}
void libssh2_exit(void);
void libssh2_exit(void) {}
int ssh_init(void);
int ssh_init(void) { return 0; }
int ssh_finalize(void);
int ssh_finalize(void) { return 0; }

// Some versions of curl_version_info call these.
const char *zlibVersion(void);
const char *zlibVersion(void) { return "none"; }
unsigned BrotliDecoderVersion(void);
unsigned BrotliDecoderVersion(void) { return 0; }
unsigned ZSTD_versionNumber(void);
unsigned ZSTD_versionNumber(void) { return 0; }
const char *libssh2_version(int wanted);
const char *libssh2_version(int wanted) {
    (void)wanted;
    return "none";
}
const char *ssh_version(int wanted);
const char *ssh_version(int wanted) {
    (void)wanted;
    return "none";
}
const char *psl_get_version(void);
const char *psl_get_version(void) { return "none"; }
int psl_check_version_number(int wanted);
int psl_check_version_number(int wanted) {
    (void)wanted;
    return 0;
}
int RTMP_LibVersion(void);
int RTMP_LibVersion(void) { return 0; }

// nghttp2_info; nghttp3_info and ngtcp2_info have its first three fields.
struct version {
    int age, number;
    const char *version, *protocol;
};
static const struct version none = {1, 0, "none", "none"};
const struct version *nghttp2_version(int wanted);
const struct version *nghttp2_version(int wanted) {
    (void)wanted;
    return &none;
}
const struct version *nghttp3_version(int wanted);
const struct version *nghttp3_version(int wanted) {
    (void)wanted;
    return &none;
}
const struct version *ngtcp2_version(int wanted);
const struct version *ngtcp2_version(int wanted) {
    (void)wanted;
    return &none;
}

// In the GSS-API this is a variable, not a function.
const void *GSS_C_NT_HOSTBASED_SERVICE = NULL;
