#define _GNU_SOURCE
#include "CLinux.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int cl_accept4(int listening, int flags) {
  return accept4(listening, NULL, NULL, flags);
}

int cl_peer_credentials(int socket, int32_t *pid, uint32_t *uid, uint32_t *gid) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -1;
  *pid = peer.pid;
  *uid = peer.uid;
  *gid = peer.gid;
  return 0;
}

int cl_window_size(int terminal, uint16_t *columns, uint16_t *rows) {
  struct winsize size;
  if (ioctl(terminal, TIOCGWINSZ, &size) < 0) return -1;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

int cl_remove_tree(const char *path) {
  return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *cl_error_name(int code) { return strerrorname_np(code); }

const char *cl_error_description(int code) { return strerrordesc_np(code); }

char *const *cl_environment(void) { return environ; }
