// relay DELAY_MS LOSS_PERCENT MBIT CONGESTION: makes a slow line between two network namespaces, for kernels that
// cannot delay packets themselves. It creates both namespaces, with an address and a TUN device in each, and forwards
// every packet from one device to the other: DELAY_MS later, at most MBIT per second after a queue of 50 ms, and
// LOSS_PERCENT of them not at all. Without loss the kernel hands over up to 64 KiB at once, as to a network card that
// segments it, because single packets cost so much that the relay would be the limit; with loss packets are lost one by
// one, so none are joined. CONGESTION becomes the congestion control of both ends. It prints the descriptors of the
// namespaces on one line; others enter them through /proc/PID/fd. Nothing has a name, so nothing is left when it ends,
// however it ends; it ends with its parent.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = sizeof(struct virtio_net_hdr) + (64 << 10), ON_WAY = 128 << 20, BURST = 64, DEVICE_QUEUE = 20000 };
static const char *const addresses[2] = {"10.77.0.1", "10.77.0.2"};

typedef struct { uint64_t due, size; } Packet;                 // its bytes follow, padded to 8
typedef struct {
    int from, to;
    uint64_t line_free;             // when the last packet has left the queue
    unsigned char *ring;            // the packets on their way; those from `end` on start again at 0
    size_t first, next, end;
} Way;

static uint64_t delay, longest_queue = 50 * 1000000ull;
static double lost_share, byte_time;

static void must(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// A namespace with a device in it; the calling thread stays inside. Returns the device.
static int end_of_line(const char *address, const char *congestion, int *namespace) {
    must(!unshare(CLONE_NEWNET), "unshare");
    must((*namespace = open("/proc/self/ns/net", O_RDONLY)) >= 0, "namespace");
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    must(device >= 0, "/dev/net/tun");
    struct ifreq r = {.ifr_name = "line", .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
    must(!ioctl(device, TUNSETIFF, &r), "TUNSETIFF");
    must(!ioctl(device, TUNSETOFFLOAD, lost_share > 0 ? 0 : TUN_F_CSUM | TUN_F_TSO4), "TUNSETOFFLOAD");
    struct sockaddr_in *a = (void *)&r.ifr_addr;
    *a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
    must(!ioctl(control, SIOCSIFADDR, &r), "SIOCSIFADDR");
    a->sin_addr.s_addr = inet_addr("255.255.255.0");
    must(!ioctl(control, SIOCSIFNETMASK, &r), "SIOCSIFNETMASK");
    r.ifr_qlen = DEVICE_QUEUE;      // the queue is the relay's, not the device's
    must(!ioctl(control, SIOCSIFTXQLEN, &r), "SIOCSIFTXQLEN");
    r.ifr_flags = IFF_UP | IFF_RUNNING;
    must(!ioctl(control, SIOCSIFFLAGS, &r), "SIOCSIFFLAGS");
    close(control);
    int setting = open("/proc/sys/net/ipv4/tcp_congestion_control", O_WRONLY | O_CLOEXEC);
    must(setting >= 0 && write(setting, congestion, strlen(congestion)) > 0, congestion);
    close(setting);
    return device;
}

static int is_lost(void) { return lost_share > 0 && drand48() < lost_share; }

// The slot for the next packet of any length, or NULL if the ring is full.
static Packet *room(Way *way) {
    size_t most = sizeof(Packet) + LONGEST + 8;
    if (way->next >= way->first && ON_WAY - way->next < most) {
        if (!way->first) return NULL;
        way->end = way->next;
        way->next = 0;
    }
    if (way->next < way->first && way->first - way->next <= most) return NULL;
    return (Packet *)(way->ring + way->next);
}

static void take(Way *way) {
    for (int i = 0; i < BURST; i++) {
        Packet *p = room(way);
        ssize_t n = p ? read(way->from, p + 1, LONGEST) : 0;
        if (n <= 0) return;
        uint64_t t = now();
        if (way->line_free < t) way->line_free = t;
        if (is_lost() || way->line_free - t > longest_queue) continue;
        way->line_free += (uint64_t)((double)n * byte_time);
        p->size = (size_t)n;
        p->due = way->line_free + delay;
        way->next += sizeof(Packet) + (((size_t)n + 7) & ~(size_t)7);
    }
}

// The packet that is due first, or NULL if there is none.
static Packet *oldest(Way *way) {
    if (way->end && way->first == way->end) way->first = way->end = 0;
    return way->first == way->next ? NULL : (Packet *)(way->ring + way->first);
}

// Delivers the packets that are due; returns how long the next one has to wait, at most a second.
static uint64_t give(Way *way) {
    uint64_t t = now();
    Packet *p;
    while ((p = oldest(way)) && p->due <= t) {
        if (write(way->to, p + 1, p->size) < 0 && errno == EAGAIN) return 100000;
        way->first += sizeof(Packet) + ((p->size + 7) & ~(uint64_t)7);
    }
    return p ? p->due - t : 1000000000;
}

int main(int argc, char **argv) {
    if (argc != 5) return 64;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1000);     // a microsecond: the default is 50
    setpriority(PRIO_PROCESS, 0, -15);  // the line must not be late because a client uses the processor
    delay = (uint64_t)(atof(argv[1]) * 1e6);
    lost_share = atof(argv[2]) / 100;
    byte_time = 8e3 / atof(argv[3]);
    srand48((long)now());
    int namespaces[2], devices[2];
    Way ways[2] = {0};
    for (int i = 0; i < 2; i++) devices[i] = end_of_line(addresses[i], argv[4], &namespaces[i]);
    for (int i = 0; i < 2; i++) {
        ways[i].from = devices[i], ways[i].to = devices[!i];
        must((ways[i].ring = malloc(ON_WAY)) != NULL, "malloc");
    }
    printf("%d %d\n", namespaces[0], namespaces[1]);
    fflush(stdout);
    for (;;) {
        uint64_t wait = 1000000000;
        for (int i = 0; i < 2; i++) {
            take(&ways[i]);
            uint64_t left = give(&ways[i]);
            if (left < wait) wait = left;
        }
        struct pollfd watched[2] = {{devices[0], POLLIN, 0}, {devices[1], POLLIN, 0}};
        ppoll(watched, 2, &(struct timespec){wait / 1000000000, (long)(wait % 1000000000)}, NULL);
    }
}
