// lending can: checks that a libcurl sends the bytes that a read callback lends, byte for byte, over HTTP and over TLS,
// through sockets that take little at a time. lending cannot: checks that another libcurl reports that it cannot.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <curl/curl.h>
#include <loan.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LENGTH = 8 << 20, PIECE = 256 << 10, PIECES = LENGTH / PIECE };

static void fail(const char *what) {
    fprintf(stderr, "lending: %s\n", what);
    exit(1);
}

static unsigned char expected(size_t at) { return (unsigned char)(at * 2654435761u >> 13); }

// MARK: - The server, a process of its own

static SSL *secure(int socket) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    SSL *ssl = X509_sign(certificate, key, EVP_sha256()) && SSL_CTX_use_certificate(context, certificate) == 1 &&
                       SSL_CTX_use_PrivateKey(context, key) == 1
                   ? SSL_new(context)
                   : NULL;
    if (!ssl || !SSL_set_fd(ssl, socket) || SSL_accept(ssl) != 1) fail("no TLS");
    return ssl;
}

// Takes one request; the exit status is 0 if its body is the expected one.
static int serve(int listener, int is_tls) {
    static char bytes[1 << 16], head[1 << 20];
    int socket = accept(listener, NULL, NULL);
    SSL *ssl = is_tls ? secure(socket) : NULL;
    size_t held = 0, seen = 0;
    int is_body = 0;
    while (seen < LENGTH) {
        size_t room = 1 + (size_t)random() % sizeof bytes;
        ssize_t count = ssl ? SSL_read(ssl, bytes, (int)room) : recv(socket, bytes, room, 0);
        if (count <= 0) return 2;
        if (random() % 8 == 0) usleep(500);
        char *from = bytes, *end = bytes + count;
        for (; !is_body && from < end; from++) {
            if (held == sizeof head) return 3;
            head[held++] = *from;
            is_body = held >= 4 && !memcmp(head + held - 4, "\r\n\r\n", 4);
        }
        for (; from < end; from++)
            if ((unsigned char)*from != expected(seen++)) return 4;
    }
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    int size = sizeof answer - 1;
    return (ssl ? SSL_write(ssl, answer, size) : send(socket, answer, (size_t)size, 0)) != size;
}

// MARK: - The client

static struct body {
    struct s3up_loan loan;
    char *memory;
    size_t at, calls, copied;
} body;

// In memory the pieces are in reverse, so that none follows the one that was lent before it.
static char *place(size_t at) { return body.memory + (PIECES - 1 - at / PIECE) * PIECE + at % PIECE; }

static void protect(size_t piece, int how) {
    if (mprotect(place(piece * PIECE), PIECE, how)) fail("mprotect");
}

static size_t give(char *buffer, size_t one, size_t room, void *context) {
    (void)context;
    size_t count = one * room, left = PIECE - body.at % PIECE;
    // Once more bytes are requested, the previous ones were sent: a piece that is over must not be read any more.
    if (body.at && body.at % PIECE == 0) protect(body.at / PIECE - 1, PROT_NONE);
    if (body.loan.bytes) fail("a loan was not taken");
    if (body.at == LENGTH) return 0;
    if (body.calls++ % 7 == 3) return CURL_READFUNC_PAUSE;
    if (count > left) count = left;
    if (body.calls % 3 == 0) count = 1 + (size_t)random() % (count < 9000 ? count : 9000);
    if (body.calls % 5 == 0) {
        memcpy(buffer, place(body.at), count);
        body.copied += count;
    } else {
        body.loan.bytes = place(body.at);
    }
    body.at += count;
    return count;
}

// A small buffer is full in the middle of the lent bytes.
static int fit(void *size, curl_socket_t socket, curlsocktype purpose) {
    (void)purpose;
    return setsockopt(socket, SOL_SOCKET, SO_SNDBUF, size, sizeof(int)) ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

// Like curl_easy_perform, but continues what the callback has paused.
static CURLcode perform(CURL *easy) {
    CURLM *multi = curl_multi_init();
    int running = 1, queued;
    if (!multi || curl_multi_add_handle(multi, easy)) fail("no multi handle");
    while (!curl_multi_perform(multi, &running) && running) {
        curl_multi_poll(multi, NULL, 0, 10, NULL);
        curl_easy_pause(easy, CURLPAUSE_CONT);
    }
    CURLMsg *message = curl_multi_info_read(multi, &queued);
    CURLcode code = message ? message->data.result : CURLE_FAILED_INIT;
    curl_multi_remove_handle(multi, easy);
    curl_multi_cleanup(multi);
    return code;
}

static CURLcode send_to(const char *url, int room, const char *header) {
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(curl_slist_append(NULL, "Expect:"), header);
    char text[CURL_ERROR_SIZE] = "";
    body.at = body.calls = body.copied = 0;
    for (size_t piece = 0; piece < PIECES; piece++) protect(piece, PROT_READ);
    if (!easy || !headers || curl_easy_setopt(easy, CURLOPT_URL, url) || curl_easy_setopt(easy, CURLOPT_PROXY, "") ||
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) ||
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L) || curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L) ||
        curl_easy_setopt(easy, CURLOPT_TIMEOUT, 100L) || curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) ||
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L) || curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)PIECE) ||
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)LENGTH) ||
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, give) ||
        curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, fit) || curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, &room) ||
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, text) ||
        curl_easy_setopt(easy, (CURLoption)S3UP_CURLOPT_LOAN, &body.loan))
        fail("an option");
    CURLcode code = perform(easy);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    if (code) printf("lending: %s: %s\n", curl_easy_strerror(code), text);
    return code;
}

static int listen_at(char *url, size_t size, int is_tls) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        fail("no server");
    snprintf(url, size, "%s://127.0.0.1:%d/", is_tls ? "https" : "http", ntohs(address.sin_port));
    return listener;
}

static pid_t start(int listener, int is_tls) {
    pid_t server = fork();
    if (server < 0) fail("no process");
    if (server) return server;
    alarm(120);
    _exit(serve(listener, is_tls));
}

// Compares the results of the client and the server for one upload.
static void try_once(int is_tls, int room, const char *header, CURLcode wanted) {
    char url[64];
    int listener = listen_at(url, sizeof url, is_tls), status = -1;
    pid_t server = start(listener, is_tls);
    close(listener);
    if (send_to(url, room, header) != wanted) fail("not the outcome that was expected");
    if (waitpid(server, &status, 0) != server || (!wanted && status)) fail("the bytes did not arrive as they were lent");
    if (!wanted && (body.at != LENGTH || body.copied == 0 || body.copied > LENGTH / 2)) fail("too little was lent");
}

int main(int argc, char **argv) {
    if (argc != 2 || curl_global_init(CURL_GLOBAL_ALL)) return 64;
    if (!strcmp(argv[1], "cannot")) {
        CURL *easy = curl_easy_init();
        int can = curl_easy_setopt(easy, (CURLoption)S3UP_CURLOPT_LOAN, &body.loan) != CURLE_UNKNOWN_OPTION;
        curl_easy_cleanup(easy);
        return can;
    }
    body.memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (body.memory == MAP_FAILED) fail("no memory");
    for (size_t at = 0; at < LENGTH; at++) *place(at) = (char)expected(at);
    // Longer than libcurl's buffer, so that the head goes out in pieces too.
    static char long_header[400 << 10] = "X-Long: ";
    memset(long_header + 8, 'x', sizeof long_header - 9);
    for (int is_tls = 0; is_tls < 2; is_tls++) {
        for (int room = 64 << 10; room <= 1 << 20; room *= 4) {
            try_once(is_tls, room, "X-Short: x", CURLE_OK);
            try_once(is_tls, room, long_header, CURLE_OK);
        }
        // The length of a chunk would have to be put around the bytes.
        try_once(is_tls, 1 << 20, "Transfer-Encoding: chunked", CURLE_READ_ERROR);
    }
    puts("lending: what is lent arrives, over HTTP and TLS");
    return 0;
}
