// The meaning of the requests. Path style only. Objects and uploads are remembered by name, size and checksum headers.
#define _GNU_SOURCE
#include "sink.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>

static const char *kind_names[KINDS] = {"CreateMultipartUpload", "UploadPart", "PutObject", "CompleteMultipartUpload",
    "AbortMultipartUpload", "ListParts", "HeadObject", "HeadBucket", "CreateBucket",
    "ListObjects", "GetObject", "stats", "other"};

typedef struct { uint64_t size; char etag[40]; } Part;          // an empty ETag: the part is not there
typedef struct Upload {
    char id[64], *object;
    Part *parts;
    struct Upload *next;
} Upload;
typedef struct Object {
    char *name, etag[64], *checksums;
    uint64_t size;
    struct Object *next;
} Object;
static Upload *uploads;
static Object *objects[1 << 16];        // chains by the hash of the name

static const char prologue[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
static const char name_space[] = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

int s3_keeps_body(enum Kind k) { return k == COMPLETE; }

const char *header(const Request *q, const char *name) {
    for (int i = 0; i < q->header_count; i++)
        if (!strcasecmp(q->headers[i].name, name)) return q->headers[i].value;
    return NULL;
}

void s3_route(Request *q) {
    const char *p = q->path + (*q->path == '/');
    char number[16] = "";
    unescape(q->object, sizeof q->object, p, strlen(p));
    int has_key = strchr(q->object, '/') && *(strchr(q->object, '/') + 1);
    int has_id = parameter(q->query, "uploadId", q->upload_id, sizeof q->upload_id);
    int has_part = parameter(q->query, "partNumber", number, sizeof number);
    q->part_number = atoi(number);
    const char *m = q->method;
    q->kind = OTHER;
    if (!strcmp(q->path, "/_stats")) q->kind = STATS;
    else if (!has_key) q->kind = !strcmp(m, "HEAD") ? HEAD_BUCKET : !strcmp(m, "PUT") ? CREATE_BUCKET
                                    : !strcmp(m, "GET") ? LIST_OBJECTS : OTHER;
    else if (!strcmp(m, "PUT")) q->kind = has_id && has_part ? PART : PUT;
    else if (!strcmp(m, "POST")) q->kind = has_id ? COMPLETE : parameter(q->query, "uploads", NULL, 0) ? CREATE : OTHER;
    else if (!strcmp(m, "GET")) q->kind = has_id ? LIST_PARTS : parameter(q->query, "attributes", NULL, 0) ? OTHER : GET_OBJECT;
    else if (!strcmp(m, "HEAD")) q->kind = HEAD_OBJECT;
    else if (!strcmp(m, "DELETE")) q->kind = has_id ? ABORT : OTHER;
    stats.requests[q->kind]++;
}

static void reply(Request *q, int status, const char *headers, const char *body, size_t n, Buffer *out) {
    char date[40];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc));
    buffer_fmt(out, "HTTP/1.1 %d %s\r\nDate: %s\r\nx-amz-request-id: %016llX\r\n", status, status < 300 ? "OK" : "Error", date,
               (unsigned long long)stats.requests[q->kind]);
    buffer_add(out, headers, strlen(headers));
    if (q->close) buffer_fmt(out, "Connection: close\r\n");
    if (status != 204 && !(q->kind == HEAD_OBJECT && status < 300)) buffer_fmt(out, "Content-Length: %zu\r\n", n);
    buffer_add(out, "\r\n", 2);
    if (strcmp(q->method, "HEAD") && !q->give) buffer_add(out, body, n);
}

static void reply_xml(Request *q, int status, const char *headers, Buffer *xml, Buffer *out) {
    reply(q, status, headers, xml->p, xml->n, out);
    free(xml->p);
}

static void reply_error(Request *q, int status, const char *code, Buffer *out) {
    Buffer xml = {0};
    buffer_fmt(&xml, "%s<Error><Code>%s</Code><Message>%s</Message></Error>", prologue, code, code);
    reply_xml(q, status, "Content-Type: application/xml\r\n", &xml, out);
}

// Returns the client's checksums, like a store that verified them.
static char *checksum_headers(const Request *q) {
    Buffer b = {0};
    buffer_add(&b, "", 0);
    for (int i = 0; i < q->header_count; i++)
        if (!strncasecmp(q->headers[i].name, "x-amz-checksum-", 15))
            buffer_fmt(&b, "%s: %.100s\r\n", q->headers[i].name, q->headers[i].value);
    return b.p;
}

// A body's ETag: its MD5 if the client sent that, else invented; its '-' shows that it is not an MD5.
static void make_etag(const Request *q, char *etag, size_t cap) {
    static unsigned long long counter;
    unsigned char md5[32];
    const char *sent = header(q, "content-md5");
    if (sent && strlen(sent) == 24 && EVP_DecodeBlock(md5, (const unsigned char *)sent, 24) == 18)
        for (int i = 0; i < 16; i++) snprintf(etag + 2 * i, cap - 2 * (size_t)i, "%02x", md5[i]);
    else
        snprintf(etag, cap, "%032llx-1", ++counter);
}

// The place of the object, or the one where it would be added.
static Object **find_object(const char *name) {
    uint32_t hash = 2166136261;         // FNV-1a
    for (const char *s = name; *s; s++) hash = (hash ^ (unsigned char)*s) * 16777619;
    Object **o = &objects[hash & 0xffff];
    while (*o && strcmp((*o)->name, name)) o = &(*o)->next;
    return o;
}

static void store(const char *name, uint64_t size, const char *etag, char *checksums) {
    Object **where = find_object(name);
    if (!*where) {
        *where = calloc(1, sizeof **where);
        (*where)->name = strdup(name);
    }
    Object *o = *where;
    o->size = size;
    snprintf(o->etag, sizeof o->etag, "%s", etag);
    free(o->checksums);
    o->checksums = checksums;
}

static Upload **find_upload(const Request *q) {
    Upload **u = &uploads;
    while (*u && (strcmp((*u)->id, q->upload_id) || strcmp((*u)->object, q->object))) u = &(*u)->next;
    return u;
}

static void drop_upload(Upload **where) {
    Upload *u = *where;
    *where = u->next;
    free(u->object), free(u->parts), free(u);
}

static void create(Request *q, Buffer *out) {
    static unsigned serial;
    Upload *u = calloc(1, sizeof *u);
    u->object = strdup(q->object);
    u->parts = calloc(MAX_PARTS + 1, sizeof *u->parts);
    snprintf(u->id, sizeof u->id, "upload-%u", ++serial);
    u->next = uploads;
    uploads = u;
    char *slash = strchr(u->object, '/'), *echoed = checksum_headers(q);
    Buffer xml = {0};
    buffer_fmt(&xml, "%s<InitiateMultipartUploadResult %s><Bucket>%.*s</Bucket><Key>", prologue, name_space,
               (int)(slash - u->object), u->object);
    buffer_xml(&xml, slash + 1);
    buffer_fmt(&xml, "</Key><UploadId>%s</UploadId></InitiateMultipartUploadResult>", u->id);
    reply_xml(q, 200, echoed, &xml, out);
    free(echoed);
}

static void put(Request *q, Upload *u, Buffer *out) {
    const char *decoded = header(q, "x-amz-decoded-content-length");        // aws-chunked: the body holds signs of its own
    uint64_t size = decoded ? strtoull(decoded, NULL, 10) : q->size;
    Buffer headers = {0};
    char etag[40];
    make_etag(q, etag, sizeof etag);
    char *checksums = checksum_headers(q);
    buffer_fmt(&headers, "ETag: \"%s\"\r\n%s", etag, checksums);
    reply(q, 200, headers.p, "", 0, out);
    free(headers.p);
    if (u) {
        Part *p = &u->parts[q->part_number];
        p->size = size;
        memcpy(p->etag, etag, sizeof etag);
        free(checksums);
    } else {
        store(q->object, size, etag, checksums);
    }
}

// Assembles the parts that the body names; their ETags are compared, quoted or not.
static void complete(Request *q, Upload **where, const char *body, Buffer *out) {
    Upload *u = *where;
    uint64_t size = 0;
    int count = 0, last = 0;
    EVP_MD_CTX *md5 = EVP_MD_CTX_new();
    EVP_DigestInit_ex(md5, EVP_md5(), NULL);
    const char *wrong = NULL;
    for (const char *s = body; !wrong && (s = strstr(s, "<Part>")); s += 6) {
        const char *number = strstr(s, "<PartNumber>"), *etag = strstr(s, "<ETag>"), *end = strstr(s, "</Part>");
        int k = number ? atoi(number + 12) : 0;
        const char *have = k > last && k <= MAX_PARTS ? u->parts[k].etag : "";
        const char *found = *have && etag ? strstr(etag, have) : NULL;
        if (!end || !number || !etag || k <= last) wrong = "InvalidPartOrder";
        else if (!found || found > end) wrong = "InvalidPart";
        else size += u->parts[k].size, last = k, count++;
        for (int i = 0; !wrong && i < 32; i += 2) {
            unsigned byte = 0;
            sscanf(have + i, "%2x", &byte);
            EVP_DigestUpdate(md5, &(unsigned char){(unsigned char)byte}, 1);
        }
    }
    unsigned char digest[16];
    EVP_DigestFinal_ex(md5, digest, NULL);
    EVP_MD_CTX_free(md5);
    if (wrong || !count) { reply_error(q, 400, wrong ? wrong : "MalformedXML", out); return; }
    char text[64];
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    snprintf(text + 32, sizeof text - 32, "-%d", count);
    Buffer xml = {0};
    buffer_fmt(&xml, "%s<CompleteMultipartUploadResult %s><ETag>&quot;%s&quot;</ETag>", prologue, name_space, text);
    const char *value = header(q, "x-amz-checksum-crc64nvme"), *type = header(q, "x-amz-checksum-type");
    if (value) buffer_fmt(&xml, "<ChecksumCRC64NVME>%.100s</ChecksumCRC64NVME>", value);
    if (type) buffer_fmt(&xml, "<ChecksumType>%.40s</ChecksumType>", type);
    buffer_fmt(&xml, "</CompleteMultipartUploadResult>");
    store(u->object, size, text, checksum_headers(q));
    drop_upload(where);
    reply_xml(q, 200, "", &xml, out);
}

static void list_parts(Request *q, const Upload *u, Buffer *out) {
    char marker[16] = "";
    parameter(q->query, "part-number-marker", marker, sizeof marker);
    int n = 0, last = 0, more = 0;
    Buffer xml = {0};
    buffer_fmt(&xml, "%s<ListPartsResult %s>", prologue, name_space);
    for (int k = atoi(marker) < 0 ? 1 : atoi(marker) + 1; k <= MAX_PARTS && !more; k++) {
        if (!*u->parts[k].etag) continue;
        if (n++ == 1000) { more = 1; break; }
        buffer_fmt(&xml, "<Part><PartNumber>%d</PartNumber><ETag>&quot;%s&quot;</ETag><Size>%llu</Size></Part>", last = k,
                   u->parts[k].etag, (unsigned long long)u->parts[k].size);
    }
    buffer_fmt(&xml, "<NextPartNumberMarker>%d</NextPartNumberMarker><IsTruncated>%s</IsTruncated></ListPartsResult>", last,
               more ? "true" : "false");
    reply_xml(q, 200, "", &xml, out);
}

// The head of the answer, for HEAD too; net.c sends the body.
static void give_object(Request *q, const Given *g, Buffer *out) {
    Buffer headers = {0};
    uint64_t from, n;
    int status = give_headers(q, g, &headers, &from, &n);
    if (status >= 300) {
        reply_error(q, status, status == 412 ? "PreconditionFailed" : "InvalidRange", out);
    } else {
        if (q->kind == HEAD_OBJECT) buffer_fmt(&headers, "Content-Length: %llu\r\n", (unsigned long long)n);
        else q->give = g->body + from, q->give_size = n;
        reply(q, status, headers.p, "", n, out);
    }
    free(headers.p);
}

static void head_object(Request *q, Buffer *out) {
    const Given *g = given(q->object);
    if (g && g->body) { give_object(q, g, out); return; }
    const Object *o = *find_object(q->object);
    if (!o) { reply(q, 404, "", "", 0, out); return; }
    Buffer headers = {0};
    buffer_fmt(&headers, "ETag: \"%s\"\r\nContent-Length: %llu\r\n%s", o->etag, (unsigned long long)o->size, o->checksums);
    reply(q, 200, headers.p, "", 0, out);
    free(headers.p);
}

static void get_object(Request *q, Buffer *out) {
    const Given *g = given(q->object);
    if (g && g->body) give_object(q, g, out);
    else reply_error(q, 404, "NoSuchKey", out);
}

// Uploaded objects are not listed: every run of a benchmark has its own prefix, which a client may list before it
// sends, when it is still empty.
static void list_objects(Request *q, Buffer *out) {
    Buffer xml = {0};
    buffer_fmt(&xml, "%s<ListBucketResult %s>", prologue, name_space);
    give_list(q, &xml);
    buffer_fmt(&xml, "</ListBucketResult>");
    reply_xml(q, 200, "Content-Type: application/xml\r\n", &xml, out);
}

static void reply_stats(Request *q, Buffer *out) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    Buffer json = {0};
    buffer_fmt(&json, "{\"requests\": {");
    for (int i = 0; i < KINDS; i++)
        buffer_fmt(&json, "%s\"%s\": %llu", i ? ", " : "", kind_names[i], (unsigned long long)stats.requests[i]);
    buffer_fmt(&json, "}, \"body_bytes\": %llu, \"given_bytes\": %llu, \"connections\": %llu, \"max_open\": %llu, \"tls\": \"%s\", \"cpu_seconds\": %.3f}",
               (unsigned long long)stats.body_bytes, (unsigned long long)stats.given_bytes, (unsigned long long)stats.connections,
               (unsigned long long)stats.max_open, stats.cipher, (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6);
    stats.max_open = stats.open;
    reply_xml(q, 200, "Content-Type: application/json\r\n", &json, out);
}

void s3_answer(Request *q, const char *body, Buffer *out) {
    Upload **u = find_upload(q);
    int needs_upload = q->kind == PART || q->kind == COMPLETE || q->kind == ABORT || q->kind == LIST_PARTS;
    if (needs_upload && !*u) { reply_error(q, 404, "NoSuchUpload", out); return; }
    switch (q->kind) {
    case CREATE: create(q, out); break;
    case PART:
        if (q->part_number < 1 || q->part_number > MAX_PARTS) reply_error(q, 400, "InvalidArgument", out);
        else put(q, *u, out);
        break;
    case PUT: put(q, NULL, out); break;
    case COMPLETE: complete(q, u, body, out); break;
    case ABORT: drop_upload(u), reply(q, 204, "", "", 0, out); break;
    case LIST_PARTS: list_parts(q, *u, out); break;
    case HEAD_OBJECT: head_object(q, out); break;
    case HEAD_BUCKET: reply(q, 200, "x-amz-bucket-region: us-east-1\r\n", "", 0, out); break;
    case CREATE_BUCKET: reply(q, 200, "", "", 0, out); break;
    case LIST_OBJECTS: list_objects(q, out); break;
    case GET_OBJECT: get_object(q, out); break;
    case STATS: reply_stats(q, out); break;
    default: reply_error(q, 501, "NotImplemented", out);
    }
}
