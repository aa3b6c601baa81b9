"""A client of the daemon for programs inside a test machine, whose Python has little more than itself."""
import json
import socket

SERVICE_SOCKET = "/run/countdownd/io.countdownd.Countdown"


class Peer:
    """A connection to the daemon."""

    def __init__(self, path=SERVICE_SOCKET):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.received = b""

    def send(self, *calls):
        messages = [{"method": f"io.countdownd.Countdown.{method}", **rest} for method, rest in calls]
        self.socket.sendall(b"".join(json.dumps(message).encode() + b"\0" for message in messages))

    def reply(self):
        """The next reply; None where the daemon has closed the connection."""
        while b"\0" not in self.received:
            piece = self.socket.recv(65536)
            if not piece:
                return None
            self.received += piece
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.send((method, {"parameters": parameters}))
        return self.reply()["parameters"]
