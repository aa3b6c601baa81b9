#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
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

int cl_peer_groups(int socket, uint32_t *groups, uint32_t *count) {
  socklen_t length = *count * sizeof *groups;
  int result = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &length);
  *count = length / sizeof *groups;
  return result;
}

// What is asked of the name services, and the answer.
struct question {
  const char *name;
  uint32_t number;
  char *answer;
  size_t length;
};

// Asks with longer and longer buffers, since a group with many members needs a long one. `ask` returns
// an errno value, or 0, and whether something was found. Returns 1, 0, or -1 with errno set.
static int ask_name_services(int (*ask)(struct question *, char *, size_t, int *),
                             struct question *question) {
  for (size_t length = 4096; length <= 16 << 20; length *= 4) {
    char *buffer = malloc(length);
    if (!buffer) return -1;
    int found = 0;
    int code = ask(question, buffer, length, &found);
    free(buffer);
    if (code == ERANGE) continue;
    // Those with which various name services say that there is none.
    if (code == 0 || code == ENOENT || code == ESRCH) return found;
    errno = code;
    return -1;
  }
  errno = ERANGE;
  return -1;
}

static int ask_group_number(struct question *question, char *buffer, size_t length, int *found) {
  struct group group, *entry = NULL;
  int code = getgrnam_r(question->name, &group, buffer, length, &entry);
  if (code == 0 && entry) *found = 1, question->number = group.gr_gid;
  return code;
}

int cl_group_number(const char *name, uint32_t *gid) {
  struct question question = {.name = name};
  int result = ask_name_services(ask_group_number, &question);
  if (result == 1) *gid = question.number;
  return result;
}

static int ask_user_number(struct question *question, char *buffer, size_t length, int *found) {
  struct passwd user, *entry = NULL;
  int code = getpwnam_r(question->name, &user, buffer, length, &entry);
  if (code == 0 && entry) *found = 1, question->number = user.pw_uid;
  return code;
}

int cl_user_number(const char *name, uint32_t *uid) {
  struct question question = {.name = name};
  int result = ask_name_services(ask_user_number, &question);
  if (result == 1) *uid = question.number;
  return result;
}

static int ask_user_name(struct question *question, char *buffer, size_t length, int *found) {
  struct passwd user, *entry = NULL;
  int code = getpwuid_r(question->number, &user, buffer, length, &entry);
  if (code != 0 || !entry) return code;
  if (strlen(user.pw_name) >= question->length) return ENAMETOOLONG;
  strcpy(question->answer, user.pw_name);
  *found = 1;
  return 0;
}

int cl_user_name(uint32_t uid, char *name, size_t length) {
  struct question question = {.number = uid, .answer = name, .length = length};
  return ask_name_services(ask_user_name, &question);
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
