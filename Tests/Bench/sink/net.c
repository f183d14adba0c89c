// Connections and HTTP/1.1 framing. A body is dropped within the kernel if possible: recv with MSG_TRUNC copies nothing.
#define _GNU_SOURCE
#include "sink.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAKE_FOR = 1 << 20, SKIP_FROM = 4096 };        // bytes of a body: at most so many at once; fewer are read
enum { GIVE_AT_ONCE = 1 << 20 };                      // bytes of a body, before the other connections have their turn
enum State { HEAD, BODY, CHUNK_LINE, CLOSED };    // CHUNK_LINE: a chunk's size, the end of its data, or a trailer

typedef struct {
    int fd, events, keep_alive, handshaken, low_water;
    enum State state;
    SSL *ssl;
    Records records;
    Buffer head, body, out;
    size_t written;
    const char *give;               // of a body, behind `out`
    uint64_t give_left;
    Request q;
    uint64_t left;                  // of the body, or of the chunk
    int chunked, after_data, last_chunk;
    char line[32];                  // of a chunked body; what is longer is cut
    size_t line_length;
} Connection;

struct Stats stats;
static SSL_CTX *tls;
static int loop_fd, wake_for = WAKE_FOR, foresees;
static char input[256 << 10];

static void interest(Connection *c, int events) {
    if (c->events == events) return;
    struct epoll_event e = {.events = (uint32_t)events, .data.ptr = c};
    epoll_ctl(loop_fd, EPOLL_CTL_MOD, c->fd, &e);
    c->events = events;
}

static void connection_free(Connection *c) {
    SSL_free(c->ssl);
    close(c->fd);
    stats.open--;
    EVP_CIPHER_CTX_free(c->records.gcm);
    free(c->records.record), free(c->head.p), free(c->body.p), free(c->out.p), free(c);
}

// Sends some bytes; returns how many the socket has accepted: 0 if it accepts none now, or is closed.
static size_t send_some(Connection *c, const char *p, size_t n) {
    size_t w = 0;
    int again;
    if (c->ssl) {
        int r = SSL_write_ex(c->ssl, p, n, &w), e = r ? 0 : SSL_get_error(c->ssl, r);
        again = e == SSL_ERROR_WANT_WRITE || e == SSL_ERROR_WANT_READ;
    } else {
        ssize_t r = send(c->fd, p, n, MSG_NOSIGNAL);
        again = r < 0 && errno == EAGAIN;
        w = r > 0 ? (size_t)r : 0;
    }
    if (again) interest(c, EPOLLIN | EPOLLOUT);
    else if (!w) c->state = CLOSED;
    return w;
}

static void flush_out(Connection *c) {
    for (size_t w; c->written < c->out.n; c->written += w)
        if (!(w = send_some(c, c->out.p + c->written, c->out.n - c->written))) return;
    c->out.n = c->written = 0;
    for (uint64_t w, most = GIVE_AT_ONCE; c->give_left; c->give += w, c->give_left -= w, most -= w) {
        if (!most) { interest(c, EPOLLIN | EPOLLOUT); return; }
        if (!(w = send_some(c, c->give, c->give_left < most ? c->give_left : most))) return;
        stats.given_bytes += w;
    }
    if (!c->keep_alive && c->state == HEAD) {
        if (c->ssl) SSL_shutdown(c->ssl);
        shutdown(c->fd, SHUT_WR);
        c->state = CLOSED;
        return;
    }
    interest(c, EPOLLIN);
}

static void body_done(Connection *c) {
    if (c->q.kind == PART || c->q.kind == PUT) stats.body_bytes += c->q.size;
    s3_answer(&c->q, c->body.p ? c->body.p : "", &c->out);
    c->give = c->q.give, c->give_left = c->q.give_size;
    c->state = HEAD;
    c->head.n = 0;
    c->records.bodies++;
    flush_out(c);
}

// How many of the next bytes may be dropped without being read.
static uint64_t skippable(const Connection *c) { return c->state == BODY && !s3_keeps_body(c->q.kind) ? c->left : 0; }

static void skipped(Connection *c, uint64_t n) {
    c->left -= n;
    if (c->left) return;
    if (c->chunked) c->state = CHUNK_LINE, c->after_data = 1;
    else body_done(c);
}

static void chunk_line_done(Connection *c) {
    size_t n = c->line_length;
    c->line[n] = 0;
    c->line_length = 0;
    if (c->last_chunk) {
        if (!n) body_done(c);
    } else if (c->after_data) {
        c->after_data = 0;
        if (n) c->state = CLOSED;
    } else {
        c->left = strtoull(c->line, NULL, 16);
        c->q.size += c->left;
        if (c->left) c->state = BODY;
        else c->last_chunk = 1;
    }
}

static void chunk_line(Connection *c, char byte) {
    if (byte == '\n') chunk_line_done(c);
    else if (byte != '\r' && c->line_length + 1 < sizeof c->line) c->line[c->line_length++] = byte;
}

static int parse_head(Connection *c) {
    Request *q = &c->q;
    char *s = c->head.p, *e = strstr(s, "\r\n");
    memset(q, 0, sizeof *q);
    *e = 0;
    q->method = s;
    if (!(s = strchr(s, ' '))) return -1;
    *s++ = 0;
    q->path = s;
    if (!(s = strchr(s, ' '))) return -1;
    *s++ = 0;
    c->keep_alive = strcmp(s, "HTTP/1.0") != 0;
    q->query = strchr(q->path, '?');
    if (q->query) *q->query++ = 0;
    else q->query = q->path + strlen(q->path);
    for (s = e + 2; *s && strncmp(s, "\r\n", 2); s = e + 2) {
        char *v = strchr(s, ':');
        if (!(e = strstr(s, "\r\n")) || !v || v > e || q->header_count == MAX_HEADERS) return -1;
        *e = 0;
        *v++ = 0;
        while (*v == ' ' || *v == '\t') v++;
        q->headers[q->header_count++] = (Header){s, v};
    }
    const char *length = header(q, "content-length"), *connection = header(q, "connection");
    c->chunked = header(q, "transfer-encoding") != NULL;
    q->size = length && !c->chunked ? strtoull(length, NULL, 10) : 0;
    if (connection && !strcasecmp(connection, "close")) c->keep_alive = 0;
    q->close = !c->keep_alive;
    return 0;
}

static void head_done(Connection *c) {
    if (parse_head(c)) { c->state = CLOSED; return; }
    s3_route(&c->q);
    if (s3_keeps_body(c->q.kind) && c->q.size > MAX_KEPT_BODY) { c->state = CLOSED; return; }
    c->state = c->chunked ? CHUNK_LINE : BODY;
    c->after_data = c->last_chunk = 0;
    c->body.n = 0;
    c->left = c->q.size;
    const char *expect = header(&c->q, "expect");
    if (expect && strcasestr(expect, "100-continue")) {
        buffer_fmt(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
        flush_out(c);
    }
    if (c->state == BODY && !c->left) body_done(c);
}

static void feed(Connection *c, const char *p, size_t n) {
    while (n && c->state != CLOSED) {
        size_t used = n;
        if (c->state == HEAD) {
            size_t old = c->head.n, from = old > 3 ? old - 3 : 0;
            buffer_add(&c->head, p, n);
            char *end = memmem(c->head.p + from, c->head.n - from, "\r\n\r\n", 4);
            if (!end) {
                if (c->head.n > MAX_HEAD) c->state = CLOSED;
                return;
            }
            used = (size_t)(end + 4 - c->head.p) - old;
            end[4] = 0;
            head_done(c);
        } else if (c->state == CHUNK_LINE) {
            used = 1;
            chunk_line(c, *p);
        } else {
            if (used > c->left) used = c->left;
            if (s3_keeps_body(c->q.kind)) buffer_add(&c->body, p, used);
            if (c->body.n > MAX_KEPT_BODY) c->state = CLOSED;
            else skipped(c, used);
        }
        p += used, n -= used;
    }
}

// Within a body the kernel wakes the sink only for many bytes, or for the rest of it.
static void set_low_water(Connection *c) {
    uint64_t left = c->state == BODY ? c->left : 0;
    if (c->ssl && c->records.head_have == 5) left -= left < c->records.have ? left : c->records.have;  // they have left the socket
    int v = left > (uint64_t)wake_for ? wake_for : left < SKIP_FROM ? 1 : (int)left;
    if (v == c->low_water || c->state == CLOSED) return;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &v, sizeof v);
    c->low_water = v;
}

static void feed_records(Connection *c, unsigned char *p, size_t n) {
    Records *r = &c->records;
    while (n && c->state != CLOSED) {
        if (r->head_have < 5) {
            r->head[r->head_have++] = *p++, n--;
            if (r->head_have < 5) continue;
            r->length = (size_t)(r->head[3] << 8 | r->head[4]);
            r->have = 0;
            // its plain text is 17 bytes shorter (type and tag), or more with padding, which no client sends in a body
            r->skip = r->head[0] == 23 && r->length > 64 && skippable(c) >= r->length - 17;
            if (r->skip && r->length != FULL_RECORD && skippable(c) > r->length - 17) r->uneven = 1;
            if (r->length > (1 << 14) + 256) { c->state = CLOSED; return; }
        }
        size_t m = r->length - r->have < n ? r->length - r->have : n;
        unsigned char *record = p;
        if (!r->skip && (r->have || m < r->length)) {
            memcpy(r->record + r->have, p, m);
            record = r->record;
        }
        r->have += m, p += m, n -= m;
        if (r->have < r->length) return;
        r->head_have = 0;
        if (r->head[0] == 20) continue;                 // change_cipher_spec
        if (r->skip) {
            skipped(c, r->length - 17);
        } else {
            int k = records_open(r, record, r->length);
            if (k < 0 || record[k - 1] != 23) { c->state = CLOSED; return; }     // an alert, or a key update
            feed(c, (char *)record, (size_t)k - 1);
        }
        r->sequence++;
    }
}

// How many of the next bytes are full records of a body, without examining them: this holds if a whole previous body
// consisted of such records only. If it were wrong, the next record that is opened would not be authentic.
static uint64_t foreseeable(const Connection *c) {
    const Records *r = &c->records;
    if (!foresees || !c->ssl || !r->bodies || r->uneven || r->head_have < 5 || !r->skip) return 0;
    uint64_t full = (skippable(c) - (r->length - 17)) / (FULL_RECORD - 17);
    return full < 2 ? 0 : r->length - r->have + (full - 1) * (5 + FULL_RECORD);
}

static void skip_records(Connection *c, uint64_t n) {
    Records *r = &c->records;
    while (n) {
        uint64_t wanted = r->head_have < 5 ? 5 - (uint64_t)r->head_have : r->length - r->have, m = wanted < n ? wanted : n;
        n -= m;
        if (r->head_have < 5) {
            r->head_have += (int)m;     // what stands there is the head of the record before, which is the same
            r->length = FULL_RECORD, r->have = 0;
        } else if ((r->have += m) == r->length) {
            r->head_have = 0;
            skipped(c, r->length - 17);
            r->sequence++;
        }
    }
}

static void handshake(Connection *c) {
    int r = SSL_accept(c->ssl), e = SSL_get_error(c->ssl, r);
    if (r == 1) {
        c->handshaken = 1;
        snprintf(stats.cipher, sizeof stats.cipher, "%s", SSL_get_cipher(c->ssl));
        if (!records_start(&c->records, c->ssl)) c->state = CLOSED;
        interest(c, EPOLLIN);
    } else if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE) {
        interest(c, e == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT);
    } else {
        ERR_clear_error();
        c->state = CLOSED;
    }
}

static void on_readable(Connection *c) {
    if (c->ssl && !c->handshaken) { handshake(c); return; }
    uint64_t skip = c->ssl ? foreseeable(c) : skippable(c);
    ssize_t r = skip >= SKIP_FROM ? recv(c->fd, NULL, skip < 16 << 20 ? skip : 16 << 20, MSG_TRUNC | MSG_DONTWAIT)
                                  : recv(c->fd, input, sizeof input, MSG_DONTWAIT);
    if (r < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (r <= 0) c->state = CLOSED;
    else if (skip >= SKIP_FROM && c->ssl) skip_records(c, (uint64_t)r);
    else if (skip >= SKIP_FROM) skipped(c, (uint64_t)r);
    else if (c->ssl) feed_records(c, (unsigned char *)input, (size_t)r);
    else feed(c, input, (size_t)r);
    set_low_water(c);
}

static void accept_all(int listener, int is_tls) {
    int fd, one = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        Connection *c = calloc(1, sizeof *c);
        if (!c) abort();
        c->fd = fd;
        c->keep_alive = 1;
        if (is_tls) {
            c->ssl = SSL_new(tls);
            SSL_set_fd(c->ssl, fd);
            SSL_set_app_data(c->ssl, &c->records);
        }
        stats.connections++;
        if (++stats.open > stats.max_open) stats.max_open = stats.open;
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
        c->events = EPOLLIN;
        epoll_ctl(loop_fd, EPOLL_CTL_ADD, fd, &e);
    }
}

static int listen_anywhere(const char *address, int *port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (void *)&a, n) || listen(fd, 1024) || getsockname(fd, (void *)&a, &n)) {
        perror("sink: listen");
        exit(1);
    }
    *port = ntohs(a.sin_port);
    return fd;
}

// sink CA_FILE ADDRESS [foresees] [give=PATH]... [keys=N]: prints its HTTP and its TLS port on one line, then serves until its
// parent ends.
int main(int argc, char **argv) {
    if (argc < 3) return 64;
    for (char **option = argv + 3; *option; option++) {
        if (!strcmp(*option, "foresees")) foresees = 1;
        else if (!strncmp(*option, "give=", 5)) give(*option + 5);
        else if (!strncmp(*option, "keys=", 5)) give_keys(atol(*option + 5));
        else return 64;
    }
    give_ready();
    if (strcmp(argv[2], "127.0.0.1")) wake_for = 1;     // a slow line: bytes that wait would hold the acknowledgements back
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    tls = tls_context(argv[1], argv[2]);
    loop_fd = epoll_create1(EPOLL_CLOEXEC);
    int listeners[2], ports[2];
    for (int i = 0; i < 2; i++) {
        listeners[i] = listen_anywhere(argv[2], &ports[i]);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &listeners[i]};
        epoll_ctl(loop_fd, EPOLL_CTL_ADD, listeners[i], &e);
    }
    printf("%d %d\n", ports[0], ports[1]);
    fflush(stdout);
    for (;;) {
        struct epoll_event events[64];
        int n = epoll_wait(loop_fd, events, 64, -1);
        for (int i = 0; i < n; i++) {
            void *p = events[i].data.ptr;
            if (p == &listeners[0] || p == &listeners[1]) {
                accept_all(*(int *)p, p == &listeners[1]);
                continue;
            }
            Connection *c = p;
            if (events[i].events & EPOLLOUT && (c->out.n || c->give_left) && (!c->ssl || c->handshaken)) flush_out(c);
            if (c->state != CLOSED) on_readable(c);
            if (c->state == CLOSED) connection_free(c);
        }
    }
}
