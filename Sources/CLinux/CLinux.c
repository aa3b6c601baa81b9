#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <sys/wait.h>
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

int cl_is_clock_synchronized(void) {
  struct timex clock = {.modes = 0};
  int state = adjtimex(&clock);
  if (state < 0) return -1;
  return state != TIME_ERROR && !(clock.status & STA_UNSYNC);
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

static int redirect(const struct cl_stream *stream, int target) {
  int fd = stream->descriptor;
  if (stream->path) {
    fd = open(stream->path, stream->flags | O_CLOEXEC, 0644);
    if (fd < 0) return -1;
  }
  if (fd < 0) return 0;
  return fd == target ? fcntl(fd, F_SETFD, 0) : dup2(fd, target);
}

// What the new process does before it becomes the program: only what a copy of one thread of many may.
static _Noreturn void become(const char *program, char *const *arguments, char *const *environment,
                             const struct cl_stream *streams, int death_signal, pid_t parent,
                             int report) {
  sigset_t none;
  sigemptyset(&none);
  for (int target = 0; target < 3; target++)
    if (redirect(&streams[target], target) < 0) goto failed;
  if (signal(SIGPIPE, SIG_DFL) == SIG_ERR) goto failed;
  if (death_signal && prctl(PR_SET_PDEATHSIG, death_signal) < 0) goto failed;
  if (death_signal && getppid() != parent) _exit(127);  // It had ended before.
  if (sigprocmask(SIG_SETMASK, &none, NULL) < 0) goto failed;
  execvpe(program, arguments, environment);
failed:;
  int code = errno;
  (void)!write(report, &code, sizeof code);
  _exit(127);
}

int32_t cl_spawn(const char *program, char *const *arguments, char *const *environment,
                 const struct cl_stream *streams, int death_signal) {
  // Closed by the exec: then there is nothing to report.
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return -1;
  // Nobody's handler is to run in the copy.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0)
    become(program, arguments, environment, streams, death_signal, parent, report[1]);
  int code = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(report[1]);
  if (pid > 0) {
    ssize_t count;
    do count = read(report[0], &code, sizeof code);
    while (count < 0 && errno == EINTR);
    if (count <= 0) code = 0;
    while (code && waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  }
  close(report[0]);
  if (pid > 0 && code == 0) return pid;
  errno = code;
  return -1;
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
