// The objects whose bodies the sink sends: a file, or all files of a folder, mapped, with the CRC64NVME that a store
// would have for an upload. It also sends lists: of these objects, or of any requested number of keys, which have no
// body.
#define _GNU_SOURCE
#include "ckernels.h"
#include "sink.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 1000, ONE_PART = 8 << 20 };

static Given *all;
static size_t count, base_length;
static char modified[40], modified_iso[40];

static void hex(const unsigned char *from, size_t n, char *to) {
    for (size_t i = 0; i < n; i++) snprintf(to + 2 * i, 3, "%02x", from[i]);
}

static Given *add(const char *key) {
    if (!(count & (count - 1))) all = realloc(all, (count ? 2 * count : 1) * sizeof *all);
    if (!all) abort();
    Given *g = &all[count++];
    memset(g, 0, sizeof *g);
    g->key = strdup(key);
    return g;
}

// The ETag of one part is its MD5; that of several parts is invented, because no client knows its parts.
static int add_file(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)walk;
    if (type != FTW_F) return 0;
    Given *g = add(path + base_length);
    int file = open(path, O_RDONLY);
    g->size = (uint64_t)status->st_size;
    g->body = g->size ? mmap(NULL, g->size, PROT_READ, MAP_SHARED, file, 0) : "";
    close(file);
    if (g->body == MAP_FAILED) { perror(path); exit(1); }
    uint64_t crc = ck_crc64nvme(0, g->body, g->size);
    unsigned char bytes[8], md5[16];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(crc >> (56 - 8 * i));
    EVP_EncodeBlock((unsigned char *)g->crc, bytes, sizeof bytes);
    EVP_Digest(g->body, g->size < ONE_PART ? g->size : ONE_PART, md5, NULL, EVP_md5(), NULL);
    hex(md5, sizeof md5, g->etag);
    if (g->size > ONE_PART) snprintf(g->etag + 32, sizeof g->etag - 32, "-%u", (unsigned)((g->size - 1) / ONE_PART + 1));
    return 0;
}

static int by_key(const void *a, const void *b) { return strcmp(((const Given *)a)->key, ((const Given *)b)->key); }

// Keys begin with the last name of the path.
void give(const char *path) {
    const char *slash = strrchr(path, '/');
    base_length = slash ? (size_t)(slash + 1 - path) : 0;
    if (nftw(path, add_file, 64, FTW_PHYS)) { perror(path); exit(1); }
}

void give_keys(long wanted) {
    char key[64];
    for (long i = 0; i < wanted; i++) {
        snprintf(key, sizeof key, "keys/%04ld/%08ld.bin", i / 1000, i);
        Given *g = add(key);
        g->size = 4096;
        snprintf(g->etag, sizeof g->etag, "%032lx", i);
    }
}

void give_ready(void) {
    time_t now = time(NULL) - 3600;
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(modified, sizeof modified, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    strftime(modified_iso, sizeof modified_iso, "%Y-%m-%dT%H:%M:%S.000Z", &utc);
    qsort(all, count, sizeof *all, by_key);
}

const Given *given(const char *object) {
    const char *slash = strchr(object, '/');
    return slash && count ? bsearch(&(Given){.key = (char *)slash + 1}, all, count, sizeof *all, by_key) : NULL;
}

// Writes the headers of an answer; the body's beginning is in `from`, and its length in `n`. Returns the status.
int give_headers(const Request *q, const Given *g, Buffer *headers, uint64_t *from, uint64_t *n) {
    const char *range = header(q, "range"), *match = header(q, "if-match"), *mode = header(q, "x-amz-checksum-mode");
    *from = 0, *n = g->size;
    if (match && !strstr(match, g->etag)) return 412;
    if (range && !strncmp(range, "bytes=", 6)) {
        char *end;
        uint64_t first = strtoull(range + 6, &end, 10), last = end[0] == '-' && end[1] ? strtoull(end + 1, NULL, 10) : g->size - 1;
        if (last >= g->size) last = g->size - 1;
        if (first >= g->size || last < first) return 416;
        *from = first, *n = last - first + 1;
        buffer_fmt(headers, "Content-Range: bytes %llu-%llu/%llu\r\n", (unsigned long long)first, (unsigned long long)last,
                   (unsigned long long)g->size);
    }
    buffer_fmt(headers, "ETag: \"%s\"\r\nLast-Modified: %s\r\nAccept-Ranges: bytes\r\nContent-Type: binary/octet-stream\r\n",
               g->etag, modified);
    if (mode && *g->crc && *n == g->size)
        buffer_fmt(headers, "x-amz-checksum-crc64nvme: %s\r\nx-amz-checksum-type: FULL_OBJECT\r\n", g->crc);
    return range ? 206 : 200;
}

static size_t first_behind(const char *key) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(all[middle].key, key) > 0) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Writes either form of the list. The next page continues after a page's last key.
void give_list(const Request *q, Buffer *xml) {
    char prefix[2400] = "", delimiter[16] = "", after[2400] = "", limit[16] = "";
    parameter(q->query, "prefix", prefix, sizeof prefix);
    parameter(q->query, "delimiter", delimiter, sizeof delimiter);
    parameter(q->query, "max-keys", limit, sizeof limit);
    int is_second = parameter(q->query, "list-type", NULL, 0);
    if (!is_second) parameter(q->query, "marker", after, sizeof after);
    else if (!parameter(q->query, "continuation-token", after, sizeof after)) parameter(q->query, "start-after", after, sizeof after);
    size_t length = strlen(prefix), i = first_behind(strcmp(after, prefix) > 0 ? after : prefix);
    if (!*after && i && !strcmp(all[i - 1].key, prefix)) i--;
    int most = *limit && atoi(limit) < PAGE ? atoi(limit) : PAGE, n = 0;
    const char *last = "";
    for (; i < count && n < most && !strncmp(all[i].key, prefix, length); n++) {
        const Given *g = &all[i];
        const char *end = *delimiter ? strstr(g->key + length, delimiter) : NULL;
        size_t common = end ? (size_t)(end - g->key) + strlen(delimiter) : 0;
        if (common) {
            buffer_fmt(xml, "<CommonPrefixes><Prefix>%.*s</Prefix></CommonPrefixes>", (int)common, g->key);
            while (i < count && !strncmp(all[i].key, g->key, common)) i++;
        } else {
            buffer_fmt(xml, "<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>&quot;%s&quot;</ETag><Size>%llu</Size>"
                            "<StorageClass>STANDARD</StorageClass></Contents>",
                       g->key, modified_iso, g->etag, (unsigned long long)g->size);
            i++;
        }
        last = all[i - 1].key;
    }
    int more = i < count && !strncmp(all[i].key, prefix, length);
    buffer_fmt(xml, "<Prefix>%s</Prefix><MaxKeys>%d</MaxKeys><KeyCount>%d</KeyCount><IsTruncated>%s</IsTruncated>", prefix, most, n,
               more ? "true" : "false");
    if (more) buffer_fmt(xml, is_second ? "<NextContinuationToken>%s</NextContinuationToken>" : "<NextMarker>%s</NextMarker>", last);
}
