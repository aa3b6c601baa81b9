// What Swift's Glibc overlay hides of Linux: whole headers it leaves out, and plain prototypes for
// calls that exist only under _GNU_SOURCE, are variadic, or are macros.
//
// No feature macro may be defined here: other C modules include the same system headers without
// it, and Swift refuses two definitions of one type. CLinux.c defines _GNU_SOURCE instead.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

// accept4(2) without the peer's address. Returns a descriptor, or -1 with errno set.
int cl_accept4(int listening, int flags);

// SO_PEERCRED of a connected Unix socket. Returns 0, or -1 with errno set.
int cl_peer_credentials(int socket, int32_t *pid, uint32_t *uid, uint32_t *gid);

// SO_PEERGROUPS of a connected Unix socket: writes up to *count groups. Returns 0 with how many there
// are in *count, or -1 with errno set; with ERANGE, *count is how many there are.
int cl_peer_groups(int socket, uint32_t *groups, uint32_t *count);

// getgrnam_r(3). Returns 1 with the group's number, 0 if there is none of that name, or -1 with errno
// set.
int cl_group_number(const char *name, uint32_t *gid);

// getpwnam_r(3) and getpwuid_r(3), likewise. The name, with its NUL, has room for `length` bytes.
int cl_user_number(const char *name, uint32_t *uid);
int cl_user_name(uint32_t uid, char *name, size_t length);

// What a standard descriptor of a new process is: what is opened at `path` with `flags` and mode 0644,
// else a duplicate of `descriptor`, else, where that is negative, the one of this process.
struct cl_stream {
  const char *path;
  int flags;
  int descriptor;
};

// Starts a program, sought in PATH where it has no "/". It blocks no signals, does not ignore SIGPIPE, and
// gets `death_signal`, unless 0, when the thread that called this ends. posix_spawn(3) cannot do that.
// Returns the process, or -1 with errno set by what could not be done in it.
int32_t cl_spawn(const char *program, char *const *arguments, char *const *environment,
                 const struct cl_stream *streams, int death_signal);

// adjtimex(2), changing nothing. Returns 1 where the wall clock is synchronised, 0 where it is not, or -1
// with errno set.
int cl_is_clock_synchronized(void);

// TIOCGWINSZ of a terminal. Returns 0, or -1 with errno set.
int cl_window_size(int terminal, uint16_t *columns, uint16_t *rows);

// Removes a file, or a directory with all it holds, without following symbolic links.
// Returns 0, or -1 with errno set by the first removal that failed.
int cl_remove_tree(const char *path);

// The symbol of an errno value ("ECONNREFUSED"), or NULL if it has none. Static memory.
const char *cl_error_name(int code);

// The text of an errno value, never translated, or NULL if it has none. Static memory.
const char *cl_error_description(int code);

// The environment of this process, NULL-terminated. Valid until it is next changed.
char *const *cl_environment(void);
