// measure [-i FILE] COMMAND ARG...: runs the command and writes its wall, user and system seconds, its peak resident KiB
// and its exit status to descriptor 3. A separate small program, because a child that Python starts inherits Python's
// peak. Everything ends with the parent. With -i the command's standard input is a pipe, which a process that is not
// measured fills with FILE like cat.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static int fill(const char *path, int pipe) {
    static char bytes[128 << 10];
    int file = open(path, O_RDONLY);
    for (ssize_t n; (n = read(file, bytes, sizeof bytes)) > 0;)
        for (ssize_t at = 0, written; at < n; at += written)
            if ((written = write(pipe, bytes + at, (size_t)(n - at))) <= 0) return 1;
    return 0;
}

int main(int argc, char **argv) {
    int ends[2] = {-1, -1}, piped = argc > 3 && !strcmp(argv[1], "-i");
    char **command = argv + (piped ? 3 : 1);
    if (!*command) return 64;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (piped) {
        if (pipe2(ends, O_CLOEXEC)) return 71;
        if (!fork()) {
            close(3);
            close(ends[0]);
            _exit(fill(argv[2], ends[1]));
        }
        close(ends[1]);
    }
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int null = open("/dev/null", O_RDWR);
        dup2(piped ? ends[0] : null, 0);
        dup2(null, 1);
        close(3);
        execvp(*command, command);
        perror(*command);
        _exit(127);
    }
    close(ends[0]);
    struct rusage r;
    int status;
    if (pid < 0 || wait4(pid, &status, 0, &r) != pid) return 71;
    clock_gettime(CLOCK_MONOTONIC, &to);
    dprintf(3, "%.6f %.6f %.6f %ld %d\n", (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9,
            seconds(r.ru_utime), seconds(r.ru_stime), r.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
