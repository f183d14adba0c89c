// Checks that a libcurl matches its headers, can be initialised, reports its versions and makes requests, to a port of
// this machine where nothing listens. With OFFERS also that offered files arrive byte for byte, over loopback.
#define _GNU_SOURCE
#include "offer.h"
#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef OFFERS
static int file;
static off_t length, at;
static unsigned calls;

// Takes one request, and exits with 0 if its body is the file.
static int serve(int listener) {
    static char bytes[1 << 16], own[1 << 16];
    int socket = accept(listener, NULL, NULL);
    size_t held = 0;
    char *body = NULL;
    while (!body) {
        ssize_t n = recv(socket, bytes + held, sizeof bytes - 1 - held, 0);
        if (n <= 0) return 1;
        bytes[held += (size_t)n] = 0;
        body = strstr(bytes, "\r\n\r\n");
    }
    body += 4;
    off_t seen = 0;
    for (ssize_t n = bytes + held - body; n >= 0; n = recv(socket, body = bytes, sizeof bytes, 0)) {
        if (pread(file, own, (size_t)n, seen) != n || memcmp(body, own, (size_t)n)) return 1;
        if ((seen += n) >= length) break;
    }
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    return seen != length || send(socket, answer, sizeof answer - 1, 0) < 0;
}

static size_t give(char *buffer, size_t one, size_t count, void *context) {
    size_t n = one * count;
    int pauses = ++calls % 5 == 0;
    if ((off_t)n > length - at) n = (size_t)(length - at);
    if (pauses) n = 0;
    if (!s3up_offer_more(context, buffer, n)) return CURL_READFUNC_ABORT;
    at += (off_t)n;
    return pauses ? CURL_READFUNC_PAUSE : n;
}

static int go_on(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    (void)a, (void)b, (void)c, (void)d;
    curl_easy_pause(context, CURLPAUSE_CONT);
    return 0;
}

// A small buffer fills up often, in the middle of a piece.
static int fit(void *context, curl_socket_t socket, curlsocktype purpose) {
    (void)purpose;
    return setsockopt(socket, SOL_SOCKET, SO_SNDBUF, context, sizeof(int)) ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

static int send_file(const char *url, int room) {
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    struct s3up_offer offer = {.file = file, .socket = -1};
    CURLcode outcome = CURLE_FAILED_INIT;
    at = 0;
    if (easy && headers && curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)length) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, fit) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, &room) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, go_on) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_XFERINFODATA, easy) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, give) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_READDATA, &offer) == CURLE_OK)
        outcome = curl_easy_perform(easy);
    if (outcome != CURLE_OK) puts(curl_easy_strerror(outcome));
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    s3up_offer_end(&offer);
    return outcome == CURLE_OK && offer.sent == offer.length;
}

static int send_files(const char *path) {
    struct stat status;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if ((file = open(path, O_RDONLY)) < 0 || fstat(file, &status)) return 64;
    length = status.st_size;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        return 71;
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    for (int room = 16 << 10; room <= 512 << 10; room += 48 << 10) {
        pid_t server = fork();
        if (server < 0) return 71;
        if (!server) {
            alarm(30);
            _exit(serve(listener));
        }
        int ended = -1, sent = send_file(url, room);
        if (waitpid(server, &ended, 0) != server || ended || !sent) {
            puts("what is sent does not arrive");
            return 6;
        }
    }
    return 0;
}
#endif

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK) return 1;
    const curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
    if (strcmp(version->version, LIBCURL_VERSION)) return 5;
    if (!version->ssl_version || strncmp(version->ssl_version, "OpenSSL/", 8)) return 2;
    static const char *const urls[] = {"http://127.0.0.1:1/", "https://127.0.0.1:1/"};
    for (int i = 0; i < 2; i++) {
        CURL *easy = curl_easy_init();
        if (!easy || curl_easy_setopt(easy, CURLOPT_URL, urls[i]) != CURLE_OK ||
            curl_easy_setopt(easy, CURLOPT_PROXY, "") != CURLE_OK ||
            curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) != CURLE_OK ||
            curl_easy_setopt(easy, CURLOPT_TIMEOUT, 5L) != CURLE_OK)
            return 3;
        CURLcode outcome = curl_easy_perform(easy);
        if (outcome != CURLE_COULDNT_CONNECT) {
            puts(curl_easy_strerror(outcome));
            return 4;
        }
        curl_easy_cleanup(easy);
    }
#ifdef OFFERS
    int status = send_files(argv[1]);
    if (status) return status;
#else
    (void)argv;
#endif
    curl_global_cleanup();
    return 0;
}
