// measure COMMAND ARG...: runs the command and writes its wall, user and system seconds, its peak resident KiB and its
// exit status to descriptor 3. A small program of its own, because a child that Python starts inherits Python's peak.
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    pid_t pid = fork();
    if (!pid) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        close(3);
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    struct rusage r;
    int status;
    if (pid < 0 || wait4(pid, &status, 0, &r) != pid) return 71;
    clock_gettime(CLOCK_MONOTONIC, &to);
    dprintf(3, "%.6f %.6f %.6f %ld %d\n", (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9,
            seconds(r.ru_utime), seconds(r.ru_stime), r.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
