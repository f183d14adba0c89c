// floor URL FILE PART_BYTES CONNECTIONS CA_FILE plain|gathered: measures what libcurl alone costs. One thread, one
// multi handle, CONNECTIONS transfers that PUT the parts of FILE to URL-1, URL-2, ...: read by pread into libcurl's
// buffer, without checksum, signature or multipart upload. With "gathered" the TLS records of a write are sent
// together, by s3up's gather.c.
#define _GNU_SOURCE
#include "drive.h"
#include "gather.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    CURL *handle;
    off_t at, end;
} Transfer;

static int file, gathers;
static off_t size, part, next;
static const char *url;

static size_t reader(char *to, size_t one, size_t count, void *context) {
    Transfer *t = context;
    size_t n = one * count;
    if ((off_t)n > t->end - t->at) n = (size_t)(t->end - t->at);
    if (!n) return 0;
    if (pread(file, to, n, t->at) != (ssize_t)n) return CURL_READFUNC_ABORT;
    t->at += (off_t)n;
    struct curl_tlssessioninfo *tls = NULL;
    if (gathers && !curl_easy_getinfo(t->handle, CURLINFO_TLS_SSL_PTR, &tls) && tls && tls->internals)
        ctls_gather_expect(tls->internals, n);
    return n;
}

static size_t drop(char *from, size_t one, size_t count, void *context) {
    (void)from, (void)context;
    return one * count;
}

static int sent(void *transfer) {
    Transfer *t = transfer;
    return t->at == t->end;
}

// Starts the next part of the file, if there is one.
static int begin(CURLM *multi, void *transfer) {
    Transfer *t = transfer;
    char target[4096];
    if (next >= size) return 0;
    snprintf(target, sizeof target, "%s-%ld", url, (long)(next / part) + 1);
    t->at = next;
    t->end = next = next + part < size ? next + part : size;
    curl_easy_setopt(t->handle, CURLOPT_URL, target);
    curl_easy_setopt(t->handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)(t->end - t->at));
    return !curl_multi_add_handle(multi, t->handle);
}

int main(int argc, char **argv) {
    if (argc != 7) return 64;
    int connections = atoi(argv[4]);
    url = argv[1];
    struct stat status;
    if ((file = open(argv[2], O_RDONLY)) < 0 || fstat(file, &status)) return 66;
    size = status.st_size;
    part = atol(argv[3]);
    curl_global_init(CURL_GLOBAL_ALL);
    gathers = !strcmp(argv[6], "gathered") && ctls_is_same_openssl(curl_version_info(CURLVERSION_NOW)->ssl_version);
    if (part < 1 || connections < 1) return 64;
    Transfer *all = calloc((size_t)connections, sizeof *all);
    CURLM *multi = curl_multi_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    for (Transfer *t = all; t < all + connections; t++) {
        t->handle = curl_easy_init();
        curl_easy_setopt(t->handle, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(t->handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
        curl_easy_setopt(t->handle, CURLOPT_READFUNCTION, reader);
        curl_easy_setopt(t->handle, CURLOPT_READDATA, t);
        curl_easy_setopt(t->handle, CURLOPT_WRITEFUNCTION, drop);
        curl_easy_setopt(t->handle, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
        curl_easy_setopt(t->handle, CURLOPT_CAINFO, argv[5]);
        curl_easy_setopt(t->handle, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(t->handle, CURLOPT_FAILONERROR, 1L);
        curl_easy_setopt(t->handle, CURLOPT_PRIVATE, t);
        begin(multi, t);
    }
    return drive(multi, sent, begin);
}
