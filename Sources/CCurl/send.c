// In the archive that lean.sh makes, libcurl calls these instead of send and close. A read callback offers a piece of a file
// in place of bytes in libcurl's buffer; it is sent from the file, and nothing is copied into the buffer and out of it.
//
// An offer is identified by its socket and by the address of its bytes. Its socket is that of the first send after the read
// callback: libcurl sends what it has read before it does anything else. The address alone would not do: libcurl frees the
// buffer of a failed request, and another request may get the same memory, before the caller learns of the failure.
#define _GNU_SOURCE
#include "offer.h"
#include <errno.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

// Per thread: libcurl reads and sends a transfer's body on one thread.
static _Thread_local struct s3up_offer *offers;
// The offer whose read callback was called since the last send.
static _Thread_local struct s3up_offer *asked;

// If libcurl ever sends its buffer in another way, none of the process's memory goes out with it.
static void clear(struct s3up_offer *offer, char *buffer, size_t length) {
    if (buffer >= offer->cleared && buffer + length <= offer->cleared + offer->cleared_length) return;
    memset(buffer, 0, length);
    offer->cleared = buffer;
    offer->cleared_length = length;
}

static void begin(struct s3up_offer *offer, char *buffer, size_t length) {
    offer->offset += (int64_t)offer->length;
    offer->buffer = buffer;
    offer->length = length;
    offer->sent = 0;
    if (!length) return;
    offer->next = offers;
    offers = offer;
}

int s3up_offer_more(struct s3up_offer *offer, char *buffer, size_t length) {
    size_t left = offer->length - offer->sent;
    asked = offer;
    if (left && buffer == offer->buffer + offer->length) {
        offer->length += length;
    } else if (left && buffer == offer->buffer + left) {
        // libcurl has moved the few bytes that were left to the front, and fills the space behind them.
        offer->offset += (int64_t)offer->sent;
        offer->length = left + length;
        offer->sent = 0;
    } else if (left) {
        return 0;
    } else {
        begin(offer, buffer, length);
    }
    clear(offer, buffer, length);
    return 1;
}

void s3up_offer_end(struct s3up_offer *offer) {
    if (asked == offer) asked = NULL;
    for (struct s3up_offer **at = &offers; *at; at = &(*at)->next) {
        if (*at != offer) continue;
        *at = offer->next;
        return;
    }
}

// For a file that sendfile refuses or cannot read; reading it tells which.
static ssize_t copy(struct s3up_offer *offer, int socket, size_t length, int flags) {
    char *buffer = offer->buffer + offer->sent;
    ssize_t count;
    do count = pread(offer->file, buffer, length, offer->offset + (off_t)offer->sent);
    while (count < 0 && errno == EINTR);
    if (count <= 0) {
        offer->problem = count < 0 ? errno : S3UP_OFFER_FILE_ENDED;
        errno = EIO;
        return -1;
    }
    return send(socket, buffer, (size_t)count, flags);
}

static int is_of_the_file(int error) {
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EOVERFLOW || error == EIO;
}

static ssize_t send_offer(struct s3up_offer *offer, int socket, size_t length, int flags) {
    size_t left = offer->length - offer->sent;
    if (length > left) length = left;
    off_t from = offer->offset + (off_t)offer->sent;
    ssize_t count = sendfile(socket, offer->file, &from, length);
    if (!count || (count < 0 && is_of_the_file(errno))) count = copy(offer, socket, length, flags);
    if (count > 0) offer->sent += (size_t)count;
    if (offer->sent == offer->length) s3up_offer_end(offer);
    return count;
}

ssize_t s3up_send(int socket, const void *bytes, size_t length, int flags) {
    const char *from = bytes;
    struct s3up_offer *fresh = asked;
    asked = NULL;
    for (struct s3up_offer *offer = offers; offer; offer = offer->next) {
        const char *end = offer->buffer + offer->length;
        if (from >= end || from + length <= offer->buffer) continue;
        if (offer == fresh && offer->socket < 0) offer->socket = socket;
        // Left behind by a request that has ended: the memory now belongs to this one.
        if (offer->socket >= 0 && offer->socket != socket) continue;
        if (offer->socket == socket && from == offer->buffer + offer->sent) return send_offer(offer, socket, length, flags);
        // The head of the request is in front of it.
        if (offer->socket == socket && from < offer->buffer && !offer->sent)
            return send(socket, bytes, (size_t)(offer->buffer - from), flags | MSG_MORE);
        errno = EIO;
        return -1;
    }
    return send(socket, bytes, length, flags);
}

// The next connection may get the same descriptor number.
int s3up_close(int descriptor) {
    for (struct s3up_offer *offer = offers, *next; offer; offer = next) {
        next = offer->next;
        if (offer->socket == descriptor) s3up_offer_end(offer);
    }
    return close(descriptor);
}
