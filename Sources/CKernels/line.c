#include "ckernels.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

int ck_line_read(int socket, struct ck_line *line) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  // An older kernel fills in less.
  memset(&info, 0, sizeof info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return errno;
  line->sent = info.tcpi_data_segs_out;
  line->sent_again = info.tcpi_total_retrans;
  line->round_trip = info.tcpi_rtt;
  line->acknowledged = info.tcpi_bytes_acked;
  return 0;
}

int ck_line_control(int socket, const char *name) {
  return setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0 ? 0 : errno;
}
