// getfloor URL FILE RANGE_BYTES CONNECTIONS CA_FILE: measures what downloads cost with libcurl alone. One thread, one
// multi handle, CONNECTIONS transfers that request the ranges of URL; 256 KiB of a range are collected, and then
// written by pwrite. No checksum, no signature, no comparison.
#define _GNU_SOURCE
#include "drive.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLLECTED = 256 << 10 };

typedef struct {
    CURL *handle;
    off_t at, end;          // of what is not written
    size_t have;
    char bytes[COLLECTED];
} Transfer;

static int file;
static off_t size, range, next;

static int write_out(Transfer *t) {
    if (pwrite(file, t->bytes, t->have, t->at) != (ssize_t)t->have) return 0;
    t->at += (off_t)t->have;
    t->have = 0;
    return 1;
}

static size_t body(char *from, size_t one, size_t count, void *context) {
    Transfer *t = context;
    size_t n = one * count;
    for (size_t used = 0, k; used < n; used += k) {
        k = n - used < COLLECTED - t->have ? n - used : COLLECTED - t->have;
        memcpy(t->bytes + t->have, from + used, k);
        t->have += k;
        if (t->have == COLLECTED && !write_out(t)) return 0;
    }
    return n;
}

static int loaded(void *transfer) {
    Transfer *t = transfer;
    return write_out(t) && t->at == t->end;
}

// Starts the next range of the object, if there is one.
static int begin(CURLM *multi, void *transfer) {
    Transfer *t = transfer;
    char text[64];
    if (next >= size) return 0;
    t->at = next;
    t->end = next = next + range < size ? next + range : size;
    snprintf(text, sizeof text, "%ld-%ld", (long)t->at, (long)t->end - 1);
    curl_easy_setopt(t->handle, CURLOPT_RANGE, text);
    return !curl_multi_add_handle(multi, t->handle);
}

static CURL *handle(char **argv) {
    CURL *h = curl_easy_init();
    curl_easy_setopt(h, CURLOPT_URL, argv[1]);
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(h, CURLOPT_BUFFERSIZE, 512L << 10);
    curl_easy_setopt(h, CURLOPT_CAINFO, argv[5]);
    curl_easy_setopt(h, CURLOPT_FAILONERROR, 1L);
    return h;
}

static int look(char **argv) {
    CURL *h = handle(argv);
    curl_off_t length = -1;
    curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
    if (!curl_easy_perform(h)) curl_easy_getinfo(h, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    curl_easy_cleanup(h);
    size = length;
    return size > 0;
}

int main(int argc, char **argv) {
    if (argc != 6) return 64;
    int connections = atoi(argv[4]);
    range = atol(argv[3]);
    if (range < 1 || connections < 1) return 64;
    curl_global_init(CURL_GLOBAL_ALL);
    if (!look(argv)) return 69;
    if ((file = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0 || ftruncate(file, size)) return 73;
    Transfer *all = calloc((size_t)connections, sizeof *all);
    CURLM *multi = curl_multi_init();
    for (Transfer *t = all; t < all + connections; t++) {
        t->handle = handle(argv);
        curl_easy_setopt(t->handle, CURLOPT_WRITEFUNCTION, body);
        curl_easy_setopt(t->handle, CURLOPT_WRITEDATA, t);
        curl_easy_setopt(t->handle, CURLOPT_PRIVATE, t);
        begin(multi, t);
    }
    return drive(multi, loaded, begin);
}
