#include "ckernels.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

int ck_line_read(int socket, struct ck_line *line) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  // Older kernels fill in fewer fields.
  memset(&info, 0, sizeof info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return errno;
  line->sent = info.tcpi_data_segs_out;
  line->sent_again = info.tcpi_total_retrans;
  line->round_trip = info.tcpi_rtt;
  line->shortest = info.tcpi_min_rtt && info.tcpi_min_rtt < info.tcpi_rtt ? info.tcpi_min_rtt : info.tcpi_rtt;
  // The kernel's busy time includes waits for the receiver's window and for space in the send buffer.
  uint64_t limited = info.tcpi_rwnd_limited + info.tcpi_sndbuf_limited;
  line->held = info.tcpi_busy_time > limited ? info.tcpi_busy_time - limited : 0;
  line->acknowledged = info.tcpi_bytes_acked;
  line->received = info.tcpi_bytes_received;
  line->incoming = info.tcpi_data_segs_in;
  line->out_of_order = info.tcpi_rcv_ooopack;
  return 0;
}

int ck_line_unsent(int socket, int bytes) {
  return setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes) == 0 ? 0 : errno;
}

int ck_line_control(int socket, const char *name) {
  return setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0 ? 0 : errno;
}
