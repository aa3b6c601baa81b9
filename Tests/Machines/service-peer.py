"""What service-test.sh needs done inside the container and no program there does.

  service-peer.py sender DAEMON     who tells a manager what, and when, by sd_notify
  service-peer.py silent DAEMON     a manager that is missing, gone, or does not listen
  service-peer.py stop              calls that were sent before `systemctl stop`
  service-peer.py many COUNT        so many clients at once

It ends with status 0 and a line that says what was seen, or with an AssertionError.
"""
import os
import signal
import socket
import struct
import subprocess
import sys
import time

from varlink_peer import Peer


def expect_service(path, daemon):
    """Waits until the daemon has a socket, and has it start a countdown."""
    deadline = time.monotonic() + 10
    while True:
        try:
            peer = Peer(path)
            break
        except (FileNotFoundError, ConnectionRefusedError):
            assert daemon.poll() is None, f"the daemon ended with {daemon.returncode}"
            assert time.monotonic() < deadline, "no socket after 10 s"
            time.sleep(0.01)
    assert peer.call("Start", name="a", durationUSec=60_000_000)["created"]


def expect_stop(daemon):
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(timeout=5) == 0, f"exit status {daemon.returncode}"


def start(program, path, notify):
    environment = {key: value for key, value in os.environ.items() if key != "NOTIFY_SOCKET"}
    if notify is not None:
        environment["NOTIFY_SOCKET"] = notify
    return subprocess.Popen([program, "--socket", path], env=environment)


def manager(address):
    """A socket as a manager has it: it learns who sent each message."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    listener.bind(address)
    listener.settimeout(10)
    return listener


def hear(listener):
    data, ancillary, _, _ = listener.recvmsg(4096, socket.CMSG_SPACE(12))
    pid, _, _ = struct.unpack("3i", ancillary[0][2])
    return pid, data.decode().splitlines()


def sender(program, directory):
    for number, address in enumerate([f"{directory}/notify", "\0countdownd-test"]):
        listener = manager(address)
        path = f"{directory}/socket{number}"
        daemon = start(program, path, address.replace("\0", "@"))
        pid, lines = hear(listener)
        assert pid == daemon.pid, f"sent by {pid}, not by the daemon, {daemon.pid}"
        assert lines[0] == "READY=1" and lines[1].startswith("STATUS="), lines
        # Served at once, by the first attempt: no waiting for the socket.
        assert Peer(path).call("Start", name="a", durationUSec=1)["created"]
        daemon.send_signal(signal.SIGTERM)
        while "STOPPING=1" not in lines:
            pid, lines = hear(listener)
            assert pid == daemon.pid, f"sent by {pid}, not by the daemon, {daemon.pid}"
        assert daemon.wait(timeout=5) == 0, f"exit status {daemon.returncode}"
    print("READY=1 and STOPPING=1 came from the main process, by a path and by an abstract name")


def silent(program, directory):
    deaf = manager("\0countdownd-deaf")
    left = manager(f"{directory}/left")
    left.close()
    addresses = {
        "unset": None,
        "abstract, nobody has it": "@countdownd-nobody",
        "abstract, nobody reads it": "@countdownd-deaf",
        "a path that is gone": f"{directory}/gone",
        "a path whose owner has gone": f"{directory}/left",
        "nonsense": "nonsense",
    }
    for number, (what, address) in enumerate(addresses.items()):
        path = f"{directory}/socket{number}"
        daemon = start(program, path, address)
        try:
            expect_service(path, daemon)
            expect_stop(daemon)
        except BaseException:
            print(f"NOTIFY_SOCKET: {what}")
            daemon.kill()
            raise
    deaf.close()
    print(f"served all the same, NOTIFY_SOCKET being: {'; '.join(addresses)}")


def stop():
    show = ["systemctl", "show", "--value", "-p", "MainPID", "countdownd"]
    pid = int(subprocess.check_output(show))
    caller, subscriber = Peer(), Peer()
    caller.call("Count")
    subscriber.send(("Subscribe", {"more": True}))
    assert subscriber.reply()["parameters"] == {"ready": True}
    # The daemon stands still while the calls come in, so that they and the signal wait for it
    # together: systemd lets it go on as it tells it to stop.
    os.kill(pid, signal.SIGSTOP)
    count = 600  # More than one turn handles, less than one read takes in.
    calls = [("Start", {"parameters": {"name": f"{n}", "durationUSec": 1 << 40}}) for n in range(count)]
    caller.send(*calls)
    begin = time.monotonic()
    stopping = subprocess.Popen(["systemctl", "stop", "countdownd"])
    for number in range(count):
        reply = caller.reply()
        assert reply is not None, f"closed after {number} replies"
        assert reply["parameters"]["created"], reply
    assert caller.reply() is None and subscriber.reply() is None
    assert stopping.wait(timeout=10) == 0
    seconds = time.monotonic() - begin
    assert seconds < 2, f"it took {seconds:.1f} s"
    print(f"{count} calls sent before were answered; stopped after {seconds:.3f} s")


def many(count):
    peers = [Peer() for _ in range(count)]
    for peer in peers:
        assert "running" in peer.call("Count")
    print(f"{count} clients at once were answered")


verb, arguments = sys.argv[1], sys.argv[2:]
if verb in ("sender", "silent"):
    directory = f"/run/service-peer.{os.getpid()}"  # It goes with the container.
    os.mkdir(directory)
    {"sender": sender, "silent": silent}[verb](arguments[0], directory)
elif verb == "stop":
    stop()
elif verb == "many":
    many(int(arguments[0]))
else:
    sys.exit(__doc__)
