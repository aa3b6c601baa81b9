#!/usr/bin/env python3
"""Makes a program that runs the daemon under the filter of system calls that the shipped unit has.

  make-launcher.py UNIT DAEMON FOLDER

Reads SystemCallFilter= and SystemCallErrorNumber= of UNIT as systemd does (systemd.exec(5)), has the
groups expanded by `systemd-analyze syscall-filter`, and compiles FOLDER/countdownd, which loads that
filter, without new privileges, and becomes DAEMON. As with systemd a call that the filter leaves out
fails with the unit's error number, and one that systemd does not know with ENOSYS.

The tests of EndToEndTests start the daemon from FOLDER if $COUNTDOWND_TEST_FOLDER names it.
"""
import os
import subprocess
import sys

HEAD = """
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "an architecture that nobody has tried"
#endif
#define ANSWER(number, action) \\
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)

static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
"""

TAIL = """
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
};

int main(int count, char **arguments) {
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  (void)count;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("the filter cannot be loaded");
    return 125;
  }
  execv(DAEMON, arguments);
  perror(DAEMON);
  return 127;
}
"""


def settings(unit, key):
    """The values of a key in [Service], in order."""
    section, values = None, []
    with open(unit) as file:
        for line in file:
            line = line.strip()
            if line.startswith("["):
                section = line
            elif section == "[Service]" and line.partition("=")[0].rstrip() == key:
                values.append(line.partition("=")[2].strip())
    return values


def members(name):
    """The system calls of a group, those of the groups within it as well; of a call, itself."""
    if not name.startswith("@"):
        return {name}
    text = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter", name], check=True,
                          capture_output=True, text=True).stdout
    words = [line.strip() for line in text.splitlines()[1:]]
    names = [word for word in words if word and not word.startswith("#")]
    return set().union(*(members(word) for word in names))


def allowed(unit):
    calls = None
    for value in settings(unit, "SystemCallFilter"):
        assert ":" not in value, f"an error number of its own: {value}"
        if not value:
            calls = None
            continue
        isDenied = value.startswith("~")
        if calls is None:
            assert not isDenied, "a list of what is denied"
            calls = members("@default")  # Which systemd adds by itself.
        for word in value.removeprefix("~").split():
            calls = calls - members(word) if isDenied else calls | members(word)
    assert calls, f"{unit} has no filter"
    return calls


def main(unit, daemon, folder):
    error, = settings(unit, "SystemCallErrorNumber")
    calls = allowed(unit)

    def answers(names, action):
        return "".join(f"#ifdef __NR_{name}\n    ANSWER(__NR_{name}, {action}),\n#endif\n" for name in sorted(names))

    source = (HEAD + answers(calls, "SECCOMP_RET_ALLOW")
              + answers(members("@known") - calls, f"SECCOMP_RET_ERRNO | {error}") + TAIL)
    os.makedirs(folder, exist_ok=True)
    path = os.path.abspath(daemon)
    subprocess.run(["clang", "-O1", "-Wall", "-Werror", f'-DDAEMON="{path}"', "-x", "c", "-", "-o",
                    f"{folder}/countdownd"], input=source, text=True, check=True)
    print(f"{folder}/countdownd: {len(calls)} system calls are allowed")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
