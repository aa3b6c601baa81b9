"""The daemon as a client sees it that knows nothing of it: the package `varlink` from PyPI.

  python_varlink.py COUNTDOWND      with varlink 31.0.0 on PYTHONPATH

Starts the daemon in a temporary directory, calls every method of io.countdownd.Countdown,
io.systemd.service and org.varlink.service, provokes every error that a client can, and ends it. Whatever is sent and comes
back is also held against the interface as the package's own parser reads it: the package itself drops
undeclared fields without a word. Ends with status 0 if nothing failed.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping

import varlink
from varlink.scanner import Interface, _Alias, _Array, _CustomType, _Enum, _Maybe, _Object, _Struct

NAME = "io.countdownd.Countdown"
CONTROL = "io.systemd.service"
SECOND = 1_000_000
HOUR = 3600 * SECOND
LARGEST = 2**53 - 1
STATES = {"running", "paused", "expired", "missed", "cancelled"}

cases = []


def case(function):
    """Adds a case: called with the way to open connections; its name is the prefix of its countdowns."""
    cases.append(function)
    return function


# ---- What came, held against the interface -------------------------------------------------------


def mismatch(interface, wanted, value, place):
    """What of a value is not as the type says, in words; None if it is."""
    if isinstance(wanted, _CustomType):
        return mismatch(interface, interface.members[wanted.name].type, value, place)
    if isinstance(wanted, _Alias):
        return mismatch(interface, wanted.type, value, place)
    if isinstance(wanted, _Maybe):
        return mismatch(interface, wanted.element_type, value, place)
    if isinstance(wanted, _Object):
        return None if isinstance(value, Mapping) else f"{place} is no object: {value!r}"
    if isinstance(wanted, _Enum):
        return None if value in wanted.fields else f"{place} is none of its words: {value!r}"
    if isinstance(wanted, _Array):
        if not isinstance(value, list):
            return f"{place} is no list: {value!r}"
        found = (mismatch(interface, wanted.element_type, item, f"{place}[]") for item in value)
        return next((one for one in found if one), None)
    if isinstance(wanted, _Struct):
        if not isinstance(value, Mapping):
            return f"{place} is no structure: {value!r}"
        for name in value:
            if name not in wanted.fields:
                return f"{place}.{name} is not declared"
        for name, kind in wanted.fields.items():
            if name not in value:
                if not isinstance(kind, _Maybe):
                    return f"{place}.{name} is missing"
                continue
            found = mismatch(interface, kind, value[name], f"{place}.{name}")
            if found:
                return found
        return None
    return None if type(value) is type(wanted) else f"{place} has another type: {value!r}"


class CheckedHandler(varlink.SimpleClientInterfaceHandler):
    """The package's connection; every reply is checked as it came, before the package looks at it."""

    known = {}  # The true interfaces: the error of one may answer a call of another.

    def __init__(self, interface, connection, namespaced=False):
        self.known.setdefault(interface.name, interface)
        connection.settimeout(20)  # A stream that says nothing is a failure, not a wait.
        super().__init__(interface, connection, namespaced=namespaced)
        self.method = ""

    def _send_message(self, out):
        self.method = json.loads(out)["method"].rpartition(".")[2]
        super()._send_message(out)

    def _next_message(self):
        for message in super()._next_message():
            self.check(json.loads(message))
            yield message

    def check(self, message):
        surplus = set(message) - {"parameters", "error", "continues"}
        assert not surplus, f"a reply has {surplus}"
        error = message.get("error")
        if error is None:
            wanted = self._interface.members[self.method].out_type
        elif not error.startswith("org.varlink.service."):
            interface, _, name = error.rpartition(".")
            wanted = self.known[interface].members[name].type
        else:
            return
        found = mismatch(self._interface, wanted, message["parameters"], error or self.method)
        assert not found, found


class CheckedClient(varlink.Client):
    handler = CheckedHandler


class Peer:
    """Opens connections to the daemon."""

    def __init__(self, address, configuration):
        self.configuration = configuration
        self.client = CheckedClient.new_with_address(address)
        self.opened = []

    def open(self, interface=NAME):
        handler = self.client.open(interface)
        self.opened.append(handler)
        return handler

    def open_as(self, text):
        """A connection that takes `text` for the interface: for calls that the true one does not know."""
        handler = CheckedHandler(Interface(text), self.client.open_connection())
        self.opened.append(handler)
        return handler

    def close(self):
        for handler in self.opened:
            handler.close()


def refused(error, call, **fields):
    """Expects an error with exactly these parameters; those that are None may have any value."""
    try:
        answer = call()
    except varlink.VarlinkError as caught:
        name = error if "." in error else f"{NAME}.{error}"
        assert caught.error() == name, f"{caught.error()} {caught.parameters()}, not {name}"
        got = caught.parameters()
        assert set(got) == set(fields), f"{error} has {got}"
        for field, value in fields.items():
            assert value is None or got[field] == value, f"{error}.{field}: {got[field]!r}"
        return got
    raise AssertionError(f"not refused with {error}: {answer}")


def invalid(parameter, call):
    refused("org.varlink.service.InvalidParameter", call, parameter=parameter)


# ---- org.varlink.service -------------------------------------------------------------------------


@case
def get_info(peer, prefix):
    info = peer.open("org.varlink.service").GetInfo()
    assert info["vendor"] and info["product"] == "countdownd" and info["version"], info
    assert info["interfaces"] == ["org.varlink.service", NAME, CONTROL], info


@case
def descriptions_are_understood(peer, prefix):
    service = peer.open("org.varlink.service")
    text = service.GetInterfaceDescription(NAME)["description"]
    interface = Interface(text)
    assert interface.name == NAME and interface.get_description() == text
    methods = {name for name, member in interface.members.items() if type(member).__name__ == "_Method"}
    assert methods == set(
        "Start StartMany Get GetMany List Count Pause Resume Restart Extend Cancel CancelMany SetPayload Subscribe Watch GetClocks GetStatistics".split()), methods
    assert list(interface.get_method("Start").in_type.fields)[:2] == ["name", "durationUSec"]
    assert all(interface.members[name].doc for name in methods), "a method has no description"
    own = Interface(service.GetInterfaceDescription("org.varlink.service")["description"])
    assert set(own.members) >= {"GetInfo", "GetInterfaceDescription", "ExpectedMore"}
    assert set(peer.client.get_interfaces()) == {"org.varlink.service", NAME, CONTROL}


@case
def unknown_interfaces_and_methods(peer, prefix):
    service = peer.open("org.varlink.service")
    refused("org.varlink.service.InterfaceNotFound",
            lambda: service.GetInterfaceDescription("no.such"), interface="no.such")
    elsewhere = peer.open_as("interface no.such\nmethod Call() -> ()")
    refused("org.varlink.service.InterfaceNotFound", elsewhere.Call, interface="no.such")
    unknown = peer.open_as(f"interface {NAME}\nmethod Stop() -> ()")
    refused("org.varlink.service.MethodNotFound", unknown.Stop, method=f"{NAME}.Stop")


@case
def control(peer, prefix):
    one, control = peer.open(), peer.open(CONTROL)
    assert control.Ping() == {} and control.SetLogLevel(3) == {} and control.SetLogLevel(level=4) == {}
    for level in (-1, 8):
        invalid("level", lambda: control.SetLogLevel(level))

    def reload(text):
        with open(peer.configuration, "w") as file:
            file.write(text)
        return control.Reload()

    assert reload("[Countdownd]\nMaxPayloadBytes=2\n") == {}
    refused("QuotaExceeded", lambda: one.Start(name=prefix, durationUSec=HOUR, payload={"a": 1}),
            resource="MaxPayloadBytes", limit=2, used=8)
    wrong = refused("ConfigurationRefused", lambda: reload("\n[Countdownd]\nMaxPayloadBytes=x\n"),
                    message=None, file=peer.configuration, line=3)
    assert wrong["message"].startswith(f"{peer.configuration}:3: MaxPayloadBytes=x: "), wrong
    refused("QuotaExceeded", lambda: one.Start(name=prefix, durationUSec=HOUR, payload={"a": 1}),
            resource="MaxPayloadBytes", limit=2, used=8)
    assert reload("") == {}
    assert one.Start(name=prefix, durationUSec=HOUR, payload={"a": 1})["created"]


@case
def flags(peer, prefix):
    one = peer.open()
    refused("org.varlink.service.ExpectedMore", one.Subscribe)
    refused("org.varlink.service.ExpectedMore", lambda: one.Watch([prefix]))
    one._send_message(json.dumps({"method": f"{NAME}.Count", "upgrade": True}).encode())
    refused("org.varlink.service.MethodNotImplemented", one._next_varlink_message, method=f"{NAME}.Count")
    assert one.Start(prefix, HOUR, _oneway=True) is None
    assert one.Get(prefix)["countdown"]["state"] == "running"
    two = peer.open()
    two._send_message(json.dumps({"method": f"{NAME}.Count", "more": True, "oneway": True}).encode())
    try:
        two._next_varlink_message()
    except varlink.error.BrokenPipeError:
        return
    raise AssertionError("a call with two flags was answered")


# ---- Start, Get ----------------------------------------------------------------------------------


@case
def start_by_position(peer, prefix):
    # The package takes no keywords after a positional argument: name and length come first.
    started = peer.open().Start(prefix, HOUR)
    assert started["created"] and started["state"] == "running"
    assert started["remainingUSec"] == HOUR
    assert started["deadline"]["boottimeUSec"] == started["now"]["boottimeUSec"] + HOUR
    assert set(started["now"]) == {"realtimeUSec", "boottimeUSec", "monotonicUSec"}


@case
def start_with_all_that_goes_with_a_length(peer, prefix):
    one = peer.open()
    payload = {"order": [1, "二", None, {"π": -2.5}], "empty": {}}
    started = one.Start(
        name=prefix, durationUSec=HOUR, clock="monotonic", onConflict="fail", catchUp="skip",
        graceUSec=2 * SECOND, repeatUSec=3 * SECOND, durability="memory", payload=payload)
    answer = one.Get(name=prefix)
    countdown = answer["countdown"]
    assert countdown["remainingUSec"] <= HOUR and answer["now"]["monotonicUSec"] > 0
    assert countdown["deadline"]["monotonicUSec"] == started["deadline"]["monotonicUSec"]
    assert "boottimeUSec" not in countdown["deadline"]
    assert set(countdown["startedAt"]) == {"realtimeUSec"}
    expected = {
        "name": prefix, "state": "running", "clock": "monotonic", "durationUSec": HOUR,
        "revision": started["revision"], "catchUp": "skip", "graceUSec": 2 * SECOND,
        "repeatUSec": 3 * SECOND, "durability": "memory", "payload": payload}
    for field, value in expected.items():
        assert countdown[field] == value, f"{field}: {countdown[field]!r}"


@case
def start_until_an_instant(peer, prefix):
    one = peer.open()
    instant = time.time_ns() // 1000 + HOUR
    started = one.Start(name=prefix, deadlineUSec=instant)
    assert started["deadline"] == {"realtimeUSec": instant}
    assert one.Get(prefix)["countdown"]["clock"] == "realtime"
    again = one.Start(
        name=prefix, deadlineUSec=-LARGEST, clock="realtime", onConflict="replace",
        revision=started["revision"])
    assert again["revision"] > started["revision"] and again["remainingUSec"] == 0
    assert one.Get(prefix)["countdown"]["state"] == "expired"


@case
def conflicts(peer, prefix):
    one = peer.open()
    first = one.Start(prefix, HOUR)
    refused("CountdownExists", lambda: one.Start(prefix, HOUR), name=prefix, remainingUSec=None,
            revision=first["revision"], state="running")
    for word in ("keep", "once"):
        kept = one.Start(name=prefix, durationUSec=1, onConflict=word)
        assert not kept["created"] and kept["revision"] == first["revision"], kept
    shorter = one.Start(name=prefix, durationUSec=SECOND, onConflict="extendOnly")
    assert not shorter["created"] and shorter["revision"] == first["revision"]
    longer = one.Start(name=prefix, durationUSec=2 * HOUR, onConflict="extendOnly")
    assert longer["revision"] > first["revision"] and longer["remainingUSec"] == 2 * HOUR
    assert one.Get(prefix)["countdown"]["durationUSec"] == HOUR
    replaced = one.Start(name=prefix, durationUSec=3 * HOUR, onConflict="replace")
    assert replaced["revision"] > longer["revision"] and replaced["remainingUSec"] == 3 * HOUR
    for word in ("keep", "once", "extendOnly"):
        refused("WrongClock",
                lambda: one.Start(name=prefix, durationUSec=1, clock="monotonic", onConflict=word),
                name=prefix, clock="boottime")
    one.Cancel(prefix)
    once = one.Start(name=prefix, durationUSec=HOUR, onConflict="once")
    assert not once["created"] and once["state"] == "cancelled"
    assert one.Start(prefix, HOUR)["created"]


@case
def names(peer, prefix):
    one = peer.open()
    for name in (f"{prefix}/订单/é\u0301", f"{prefix}/{'x' * (254 - len(prefix))}"):
        assert one.Start(name, HOUR)["created"]
        assert one.Get(name)["countdown"]["name"] == name
    for name in ("", "x" * 256, "a\nb", "a\x7f", "\u0085"):
        invalid("name", lambda: one.Start(name, HOUR))
        invalid("name", lambda: one.Get(name))


@case
def bounds(peer, prefix):
    one = peer.open()

    def out_of_range(parameter, least, most, call):
        refused("DurationOutOfRange", call, parameter=parameter, minimumUSec=least, maximumUSec=most)

    for length in (-1, LARGEST + 1, 2**63 - 1):
        out_of_range("durationUSec", 0, LARGEST, lambda: one.Start(prefix, length))
    for instant in (-LARGEST - 1, LARGEST + 1):
        out_of_range("deadlineUSec", -LARGEST, LARGEST, lambda: one.Start(name=prefix, deadlineUSec=instant))
    for interval in (0, SECOND - 1, LARGEST + 1):
        out_of_range("repeatUSec", SECOND, LARGEST,
                     lambda: one.Start(name=prefix, durationUSec=1, repeatUSec=interval))
        out_of_range("graceUSec", SECOND, LARGEST,
                     lambda: one.Start(name=prefix, durationUSec=1, catchUp="skip", graceUSec=interval))
        out_of_range("heartbeatUSec", SECOND, LARGEST,
                     lambda: next(peer.open().Subscribe(heartbeatUSec=interval, _more=True)))
        out_of_range("heartbeatUSec", SECOND, LARGEST,
                     lambda: next(peer.open().Watch(names=[prefix], heartbeatUSec=interval, _more=True)))
    for interval in (0, 49_999, LARGEST + 1):
        out_of_range("intervalUSec", 50_000, LARGEST,
                     lambda: next(peer.open().Watch(names=[prefix], intervalUSec=interval, _more=True)))
    refused("NoSuchCountdown", lambda: one.Get(prefix), name=prefix)
    assert one.Start(prefix, LARGEST)["remainingUSec"] == LARGEST
    for length in (-1, LARGEST + 1):
        out_of_range("toRemainingUSec", 0, LARGEST, lambda: one.Extend(name=prefix, toRemainingUSec=length))
    got = refused("DurationOutOfRange", lambda: one.Extend(prefix, HOUR), parameter="byUSec",
                  minimumUSec=-LARGEST, maximumUSec=None)
    assert 0 <= got["maximumUSec"] < HOUR, got
    invalid("durationUSec", lambda: one.Start(prefix, 2**63))  # No 64-bit integer.


@case
def parameters_that_do_not_fit(peer, prefix):
    one = peer.open()
    invalid("durationUSec", lambda: one.Start(prefix))
    invalid("deadlineUSec", lambda: one.Start(name=prefix, durationUSec=1, deadlineUSec=1))
    invalid("durationUSec", lambda: one.Start(name=prefix, durationUSec=1, clock="realtime"))
    invalid("deadlineUSec", lambda: one.Start(name=prefix, deadlineUSec=1, clock="boottime"))
    invalid("graceUSec", lambda: one.Start(name=prefix, durationUSec=1, graceUSec=SECOND))
    invalid("revision", lambda: one.Start(name=prefix, durationUSec=1, revision=1))
    for word in ("clock", "onConflict", "catchUp", "durability"):
        invalid(word, lambda: one.Start(name=prefix, durationUSec=1, **{word: "nonsense"}))
    invalid("payload", lambda: one.Start(name=prefix, durationUSec=1, payload=[1]))
    invalid("name", one.Start)
    invalid("byUSec", lambda: one.Extend(prefix))
    invalid("toRemainingUSec", lambda: one.Extend(name=prefix, byUSec=1, toRemainingUSec=1))
    invalid("limit", lambda: one.List(limit=0))
    invalid("limit", lambda: one.List(limit=10_001))
    invalid("state", lambda: one.List(state="nonsense"))
    invalid("prefix", lambda: one.List(prefix="x" * 256))
    invalid("kinds[1]", lambda: next(one.Subscribe(kinds=["expired", "nonsense"], _more=True)))
    stranger = peer.open_as(f"interface {NAME}\nmethod Count(colour: string) -> (running: int)\n"
                            "method Get(name: int) -> ()")
    invalid("colour", lambda: stranger.Count("blue"))
    invalid("name", lambda: stranger.Get(1))
    refused("NoSuchCountdown", lambda: one.Get(prefix), name=prefix)


@case
def limits(peer, prefix):
    one = peer.open()
    fits = {"a": "x" * (4096 - len('{"a": ""}'))}
    one.Start(name=prefix, durationUSec=HOUR, payload=fits)
    assert one.Get(prefix)["countdown"]["payload"] == fits
    long = {"a": fits["a"] + "x"}
    refused("QuotaExceeded", lambda: one.Start(name=f"{prefix}/long", durationUSec=HOUR, payload=long),
            resource="MaxPayloadBytes", limit=4096, used=4097)
    refused("QuotaExceeded", lambda: one.Get("x" * (1 << 20)), resource="MaxMessageBytes",
            limit=1 << 20, used=None)
    try:
        one.Count()
    except (varlink.error.BrokenPipeError, OSError):
        return  # Whoever sends so much is not listened to any more.
    raise AssertionError("the connection goes on after a message that is too long")


@case
def nothing_can_be_stored(peer, prefix):
    one = peer.open()
    refused("StorageFailed", lambda: one.Start(name=prefix, durationUSec=HOUR, durability="synced"),
            errno=95, errnoName="ENOTSUP")
    refused("NoSuchCountdown", lambda: one.Get(prefix), name=prefix)


# ---- The verbs -----------------------------------------------------------------------------------


@case
def verbs(peer, prefix):
    one = peer.open()
    started = one.Start(prefix, HOUR)
    paused = one.Pause(prefix)
    assert paused["revision"] > started["revision"] and "deadline" not in paused
    assert 0 < paused["remainingUSec"] <= HOUR
    state = one.Get(prefix)["countdown"]
    assert state["state"] == "paused" and state["remainingUSec"] == paused["remainingUSec"]
    assert "deadline" not in state
    resumed = one.Resume(prefix, paused["revision"])
    assert resumed["remainingUSec"] == paused["remainingUSec"]
    assert resumed["deadline"]["boottimeUSec"] == (
        resumed["now"]["boottimeUSec"] + resumed["remainingUSec"])
    extended = one.Extend(prefix, -SECOND)
    assert extended["deadline"]["boottimeUSec"] == resumed["deadline"]["boottimeUSec"] - SECOND
    moved = one.Extend(name=prefix, toRemainingUSec=5 * HOUR, revision=extended["revision"])
    assert moved["remainingUSec"] == 5 * HOUR
    assert one.Get(prefix)["countdown"]["durationUSec"] == HOUR
    restarted = one.Restart(prefix)
    assert restarted["remainingUSec"] == HOUR
    cancelled = one.Cancel(name=prefix, revision=restarted["revision"])
    assert cancelled["revision"] == restarted["revision"] and 0 < cancelled["remainingUSec"] <= HOUR
    ended = one.Get(prefix)["countdown"]
    assert ended["state"] == "cancelled" and set(ended["endedAt"]) == {"realtimeUSec"}
    assert one.Restart(prefix)["remainingUSec"] == HOUR


@case
def payloads_change(peer, prefix):
    one = peer.open()
    started = one.Start(name=prefix, durationUSec=HOUR, payload={"first": 1})
    stream = peer.open().Subscribe(prefix=prefix, kinds=["changed"], _more=True)
    assert next(stream) == {"ready": True}
    first = one.SetPayload(prefix, {"second": [2]})
    assert first["revision"] > started["revision"]
    countdown = one.Get(prefix)["countdown"]
    assert countdown["payload"] == {"second": [2]} and countdown["deadline"] == started["deadline"]
    second = one.SetPayload(name=prefix, revision=first["revision"])
    assert "payload" not in one.Get(prefix)["countdown"]
    told = events(stream, 2)
    assert [event.get("payload") for event in told] == [{"second": [2]}, None], told
    assert [event["revision"] for event in told] == [first["revision"], second["revision"]]
    refused("QuotaExceeded", lambda: one.SetPayload(prefix, {"a": "x" * 4096}),
            resource="MaxPayloadBytes", limit=4096, used=None)


@case
def refusals_of_the_verbs(peer, prefix):
    one = peer.open()
    moving = {"Pause": (), "Resume": (), "Restart": (), "Extend": (1,), "Cancel": (), "SetPayload": ({},)}
    for verb, more in moving.items():
        refused("NoSuchCountdown", lambda: getattr(one, verb)(f"{prefix}/none", *more), name=f"{prefix}/none")
    running = f"{prefix}/running"
    revision = one.Start(running, HOUR)["revision"]
    refused("WrongState", lambda: one.Resume(running), name=running, state="running", revision=revision)
    for verb, more in moving.items():
        change = {"byUSec": 1} if verb == "Extend" else {}
        refused("RevisionMismatch",
                lambda: getattr(one, verb)(name=running, revision=revision + 1, **change),
                name=running, revision=revision)
    refused("RevisionMismatch",
            lambda: one.Start(name=running, durationUSec=1, onConflict="replace", revision=1),
            name=running, revision=revision)
    revision = one.Pause(running)["revision"]
    refused("WrongState", lambda: one.Pause(running), name=running, state="paused", revision=revision)
    one.Cancel(running)
    for verb, more in moving.items():
        if verb != "Restart":
            refused("WrongState", lambda: getattr(one, verb)(running, *more), name=running,
                    state="cancelled", revision=revision)
    expired = f"{prefix}/expired"
    revision = one.Start(expired, 0)["revision"]
    for verb, more in moving.items():
        if verb != "Restart":
            refused("AlreadyExpired", lambda: getattr(one, verb)(expired, *more), name=expired,
                    state="expired", revision=revision)
    wall = f"{prefix}/wall"
    one.Start(name=wall, deadlineUSec=time.time_ns() // 1000 + HOUR)
    for verb in (one.Pause, one.Restart):
        refused("WrongClock", lambda: verb(wall), name=wall, clock="realtime")


@case
def many_at_once(peer, prefix):
    one = peer.open()
    for name in "abc":
        one.Start(f"{prefix}/{name}", HOUR)
    answer = one.GetMany([f"{prefix}/{name}" for name in "cxac"])
    assert [countdown["name"][-1] for countdown in answer["countdowns"]] == ["c", "a", "c"], answer
    assert answer["missing"] == [f"{prefix}/x"] and answer["now"]["boottimeUSec"] > 0
    assert one.GetMany(["x"] * 100)["missing"] == ["x"] * 100
    refused("QuotaExceeded", lambda: one.GetMany(["x"] * 101), resource="NamesPerCall", limit=100, used=101)
    invalid("names[1]", lambda: one.GetMany(["x", "a\nb"]))


@case
def starts_many(peer, prefix):
    one = peer.open()
    items = [{"name": f"{prefix}/{number}", "durationUSec": HOUR} for number in range(1000)]
    results = one.StartMany(items)["results"]
    assert len(results) == 1000 and all(result["created"] for result in results)
    assert one.Get(f"{prefix}/999")["countdown"]["revision"] == results[999]["revision"]
    refused("QuotaExceeded", lambda: one.StartMany(items + items[:1]), resource="CountdownsPerCall",
            limit=1000, used=1001)
    mixed = one.StartMany([
        items[0], {"name": f"{prefix}/new", "durationUSec": HOUR, "payload": {"a": [1]}},
        {"name": f"{prefix}/new", "durationUSec": 1, "onConflict": "keep"},
        {"name": f"{prefix}/x", "durationUSec": -1}])["results"]
    assert mixed[0]["error"] == f"{NAME}.CountdownExists", mixed[0]
    assert mixed[0]["errorParameters"]["revision"] == results[0]["revision"], mixed[0]
    assert mixed[1]["created"] and not mixed[2]["created"]
    assert mixed[3]["errorParameters"]["parameter"] == "durationUSec", mixed[3]
    invalid("countdowns[1].name", lambda: one.StartMany([items[0], {"name": "", "durationUSec": 1}]))
    invalid("countdowns[0].durationUSec", lambda: one.StartMany([{"name": "x"}]))


@case
def cancels_many(peer, prefix):
    one = peer.open()
    for number in range(600):
        one.Start(f"{prefix}/{number}", HOUR)
    one.Start(f"{prefix}/ended", 0)
    some = one.CancelMany(names=[f"{prefix}/{name}" for name in ("1", "x", "ended", "1", "2")])
    assert some == {"cancelled": 2, "ended": 2, "missing": 1}, some
    rest = one.CancelMany(prefix=f"{prefix}/")
    assert rest == {"cancelled": 598, "ended": 3, "missing": 0}, rest
    one.Start(f"{prefix}/again", HOUR)
    assert one.CancelMany(prefix=prefix, _oneway=True) is None
    assert one.Get(f"{prefix}/again")["countdown"]["state"] == "cancelled"
    invalid("names", one.CancelMany)
    invalid("prefix", lambda: one.CancelMany(names=[], prefix=""))


@case
def owners(peer, prefix):
    one, own = peer.open(), os.getuid()
    one.Start(name=prefix, durationUSec=HOUR, owner=own)
    assert one.Get(name=prefix, owner=own)["countdown"]["owner"] == own
    if own != 0:
        denied = "org.varlink.service.PermissionDenied"
        refused(denied, lambda: one.Get(name=prefix, owner=own + 1))
        refused(denied, lambda: one.List(allOwners=True))
        return
    other = 4_000_000_000
    one.Start(name=prefix, durationUSec=HOUR, owner=other)
    stream = peer.open().Subscribe(prefix=prefix, owner=other, kinds=["changed"], _more=True)
    assert next(stream) == {"ready": True}
    one.Extend(name=prefix, byUSec=1, owner=other)
    one.Extend(name=prefix, byUSec=1)
    assert events(stream, 1)[0]["owner"] == other
    page = one.List(prefix=prefix, allOwners=True, limit=1)
    assert [countdown["owner"] for countdown in page["countdowns"]] == [own]
    page = one.List(prefix=prefix, allOwners=True, after=page["next"])
    assert [countdown["owner"] for countdown in page["countdowns"]] == [other]
    assert one.Count(allOwners=True)["running"] >= one.Count()["running"] + 1
    one.Cancel(name=prefix, owner=other)
    assert one.Get(prefix)["countdown"]["state"] == "running"
    invalid("owner", lambda: one.Get(name=prefix, owner=-1))
    invalid("allOwners", lambda: one.Count(owner=own, allOwners=True))


# ---- GetClocks, GetStatistics --------------------------------------------------------------------


@case
def clocks(peer, prefix):
    answer = peer.open().GetClocks()
    assert set(answer) == {"now", "bootID", "synchronized", "sleptUSec", "discontinuities"}, answer
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        assert answer["bootID"] == file.read().strip().replace("-", "")
    assert abs(answer["now"]["realtimeUSec"] - time.time_ns() // 1000) < 10 * SECOND
    assert abs(answer["now"]["monotonicUSec"] - time.monotonic_ns() // 1000) < 10 * SECOND
    slept = answer["now"]["boottimeUSec"] - answer["now"]["monotonicUSec"]
    assert abs(answer["sleptUSec"] - slept) <= 1, answer
    for one in answer["discontinuities"]:
        assert one["kind"] in {"slept", "stepped", "sleptAndStepped", "stalled"}, one


@case
def statistics(peer, prefix):
    one = peer.open()
    before = one.GetStatistics()
    assert before["connections"] >= 1 and before["running"] >= 0
    one.Start(name=f"{prefix}/a", durationUSec=1_000)
    one.Start(name=f"{prefix}/b", durationUSec=HOUR)
    one.Cancel(f"{prefix}/b")
    while one.Get(f"{prefix}/a")["countdown"]["state"] != "expired":
        time.sleep(0.01)
    after = one.GetStatistics()
    for field, least in {"started": 2, "expired": 1, "cancelled": 1, "calls": 5}.items():
        for span in ("sinceStart", "lastMinute"):
            assert after[span][field] > 0, after
        assert after["sinceStart"][field] - before["sinceStart"][field] >= least, field
    bounds = [bucket.get("upToUSec") for bucket in after["lateness"]]
    assert bounds[-1] is None and bounds[:-1] == sorted(bounds[:-1]) and bounds[0] == 100, bounds
    assert sum(bucket["count"] for bucket in after["lateness"]) == after["sinceStart"]["expired"]
    if os.getuid() != 0:
        assert "daemon" not in after
        refused("org.varlink.service.PermissionDenied", lambda: one.GetStatistics(allOwners=True))
        return
    daemon = one.GetStatistics(allOwners=True)["daemon"]
    assert daemon["memory"]["residentBytes"] > 0 and daemon["uptimeUSec"] > 0
    limits = {limit["name"]: limit["value"] for limit in daemon["limits"]}
    assert limits["MaxCountdowns"] == 5_000_000, limits
    nobody = one.GetStatistics(owner=4_000_000_001)
    assert nobody["connections"] == 0 and nobody["sinceStart"]["calls"] == 0


# ---- Count, List ---------------------------------------------------------------------------------


@case
def counts(peer, prefix):
    one = peer.open()
    before = one.Count()
    one.Start(f"{prefix}/running", HOUR)
    one.Start(f"{prefix}/paused", HOUR)
    one.Pause(f"{prefix}/paused")
    one.Start(f"{prefix}/ended", 0)
    assert one.Get(f"{prefix}/ended")["countdown"]["state"] == "expired"
    after = one.Count()
    assert {key: after[key] - before[key] for key in before} == {"running": 1, "paused": 1, "ended": 1}


@case
def lists(peer, prefix):
    one = peer.open()
    wanted = sorted((f"{prefix}/{number}" for number in range(250)), key=str.encode)
    for name in reversed(wanted):
        one.Start(name, HOUR)
    one.Start(f"{prefix}0", HOUR)  # After "/": it must not be in the list.
    got, pages, after = [], 0, None
    while pages < len(wanted):  # At least one to a page, or it would never end.
        page = one.List(prefix=f"{prefix}/", after=after, limit=60)
        assert len(page["countdowns"]) <= 60
        got += [countdown["name"] for countdown in page["countdowns"]]
        pages, after = pages + 1, page.get("next")
        if after is None:
            break
    assert after is None, f"a page after the last: {after}"
    assert got == wanted and pages >= 5, f"{len(got)} in {pages} pages"
    assert len(one.List(prefix=f"{prefix}/")["countdowns"]) == 100
    replies = list(one.List(prefix=f"{prefix}/", _more=True))
    got = [countdown["name"] for reply in replies for countdown in reply["countdowns"]]
    assert got == wanted and len(replies) > 1, f"{len(got)} in {len(replies)} replies"
    one.Pause(wanted[7])
    paused = one.List(prefix=f"{prefix}/", state="paused")["countdowns"]
    assert [countdown["name"] for countdown in paused] == [wanted[7]]
    assert paused[0]["state"] in STATES
    assert one.List(prefix=f"{prefix}/nothing")["countdowns"] == []


# ---- Subscribe -----------------------------------------------------------------------------------


def events(stream, count):
    """The next events of a stream; it may tell several in a reply."""
    got = []
    while len(got) < count:
        reply = next(stream)
        assert reply["events"] and "gap" not in reply, reply
        got += reply["events"]
    assert len(got) == count, got
    return got


@case
def a_whole_life_is_told(peer, prefix):
    one, stream = peer.open(), peer.open().Subscribe(
        prefix=f"{prefix}/", _more=True,
        kinds=["started", "changed", "paused", "resumed", "expired", "missed", "cancelled",
               "clockStepped", "slept"])
    assert next(stream) == {"ready": True}
    a = f"{prefix}/a"
    one.Start(f"{prefix}x", HOUR)  # Another prefix: it is not told.
    started = one.Start(name=a, durationUSec=HOUR, payload={"for": "b"})
    paused, resumed = one.Pause(a), one.Resume(a)
    extended, cancelled = one.Extend(a, HOUR), one.Cancel(a)
    restarted, ending = one.Restart(a), one.Extend(name=a, toRemainingUSec=0)
    one.Start(f"{prefix}/b", HOUR)
    replaced = one.Start(name=f"{prefix}/b", durationUSec=HOUR, onConflict="replace")
    got = events(stream, 11)
    assert [event["kind"] for event in got] == [
        "started", "paused", "resumed", "changed", "cancelled", "started", "changed", "expired",
        "started", "cancelled", "started"], got
    changes = [started, paused, resumed, extended, cancelled, restarted, ending, ending]
    for event, change in zip(got, changes):
        assert event["name"] == a and event["revision"] == change["revision"], (event, change)
        assert set(event["at"]) == {"realtimeUSec", "boottimeUSec", "monotonicUSec"}
        assert event["payload"] == {"for": "b"}, event
    assert got[1]["remainingUSec"] == paused["remainingUSec"]
    assert got[3]["deadline"] == extended["deadline"]
    assert got[4]["remainingUSec"] == cancelled["remainingUSec"]
    assert got[7]["lateUSec"] >= 0 and "remainingUSec" not in got[7]
    assert got[9]["replacedBy"] == replaced["revision"]


@case
def without_kinds_only_ends_are_told(peer, prefix):
    one, stream = peer.open(), peer.open().Subscribe(prefix, _more=True)
    assert next(stream) == {"ready": True}
    soon = one.Start(f"{prefix}/soon", 20_000)
    one.Start(f"{prefix}/late", HOUR)
    one.Pause(f"{prefix}/late")
    one.Cancel(f"{prefix}/late")
    kinds = {event["name"]: event for event in events(stream, 2)}
    assert kinds[f"{prefix}/late"]["kind"] == "cancelled"
    expired = kinds[f"{prefix}/soon"]
    assert expired["kind"] == "expired"
    assert expired["deadline"] == soon["deadline"]
    assert expired["at"]["boottimeUSec"] - expired["deadline"]["boottimeUSec"] == expired["lateUSec"] >= 0


@case
def the_state_is_told_first(peer, prefix):
    one = peer.open()
    for number in range(300):
        one.Start(f"{prefix}/{number:03}", HOUR)
    stream = peer.open().Subscribe(prefix=prefix, includeState=True, kinds=["started"], _more=True)
    told = []
    for reply in stream:
        if reply.get("ready"):
            break
        told += [countdown["name"] for countdown in reply["countdowns"]]
    assert told == [f"{prefix}/{number:03}" for number in range(300)], f"{len(told)} told"
    one.Start(f"{prefix}/next", HOUR)
    assert events(stream, 1)[0]["name"] == f"{prefix}/next"


@case
def repetition_and_heartbeat(peer, prefix):
    one = peer.open()
    stream = peer.open().Subscribe(prefix=prefix, heartbeatUSec=SECOND, _more=True)
    assert next(stream) == {"ready": True}
    started = one.Start(name=prefix, durationUSec=1_000, repeatUSec=5 * SECOND)
    first, = events(stream, 1)
    assert (first["kind"], first["occurrence"], first["revision"]) == ("expired", 1, started["revision"])
    beat, = events(stream, 1)
    assert beat["kind"] == "heartbeat" and "name" not in beat
    assert beat["at"]["boottimeUSec"] - first["at"]["boottimeUSec"] >= SECOND
    assert one.Get(prefix)["countdown"]["state"] == "running"
    one.Cancel(prefix)
    assert events(stream, 1)[0]["kind"] == "cancelled"


# ---- Watch ---------------------------------------------------------------------------------------


def states(reply):
    return [(countdown["name"], countdown["state"]) for countdown in reply["countdowns"]]


@case
def watches_from_absent_to_its_end(peer, prefix):
    one, stream = peer.open(), peer.open().Watch([prefix, f"{prefix}/other", prefix], _more=True)
    first = next(stream)
    assert states(first) == [(prefix, "absent"), (f"{prefix}/other", "absent")], first
    assert set(first["countdowns"][0]) == {"name", "state"} and first["now"]["boottimeUSec"] > 0
    started = one.Start(prefix, HOUR)
    told, = next(stream)["countdowns"]
    assert told["state"] == "running" and told["revision"] == started["revision"], told
    assert told["deadline"] == started["deadline"] and HOUR - SECOND < told["remainingUSec"] <= HOUR, told
    paused = one.Pause(prefix)
    told, = next(stream)["countdowns"]
    assert told["state"] == "paused" and told["remainingUSec"] == paused["remainingUSec"], told
    assert "deadline" not in told
    one.Start(name=prefix, durationUSec=1000, onConflict="replace")
    assert states(next(stream)) == [(prefix, "running")]
    told, = next(stream)["countdowns"]
    assert told["state"] == "expired" and told["remainingUSec"] == 0 and told["lateUSec"] >= 0, told
    one.Restart(prefix)
    assert states(next(stream))[0][0] == prefix


@case
def watches_multiples_of_what_remains(peer, prefix):
    one = peer.open()
    one.Start(f"{prefix}/a", 450_000)
    one.Start(f"{prefix}/paused", HOUR)
    one.Pause(f"{prefix}/paused")
    stream = peer.open().Watch(
        names=[f"{prefix}/a", f"{prefix}/paused"], intervalUSec=100_000, heartbeatUSec=SECOND, _more=True)
    assert len(next(stream)["countdowns"]) == 2
    previous = 450_000
    for reply in stream:
        told, = reply["countdowns"]
        if told["state"] == "expired":
            break
        # Never before a multiple, and each but for those that a busy machine has overslept.
        assert told["remainingUSec"] <= (previous - 1) // 100_000 * 100_000, (previous, told)
        previous = told["remainingUSec"]
    beat = next(stream)
    assert beat["countdowns"] == [] and set(beat) == {"now", "countdowns"}, beat


@case
def watches_no_more_than_may_be(peer, prefix):
    one = peer.open()
    names = [f"{prefix}/{number}" for number in range(1000)]
    stream, told = peer.open().Watch(names, _more=True), []
    while len(told) < 1000:
        told += [name for name, _ in states(next(stream))]
    assert told == names
    refused("QuotaExceeded", lambda: next(one.Watch(names + ["x"], _more=True)),
            resource="NamesPerCall", limit=1000, used=1001)
    invalid("names", lambda: next(one.Watch([], _more=True)))
    invalid("names", lambda: next(one.Watch(_more=True)))
    invalid("names[1]", lambda: next(one.Watch(["x", ""], _more=True)))
    if os.getuid() == 0:
        other = 4_000_000_001
        stream = peer.open().Watch(names=[prefix], owner=other, _more=True)
        assert states(next(stream)) == [(prefix, "absent")]
        one.Start(prefix, HOUR)
        one.Start(name=prefix, durationUSec=HOUR, owner=other)
        assert states(next(stream)) == [(prefix, "running")]


# ---- All of it -----------------------------------------------------------------------------------


def connect(address, configuration, daemon):
    """Waits until the daemon answers."""
    for _ in range(1000):
        peer = Peer(address, configuration)
        try:
            peer.open()
            return peer
        except (FileNotFoundError, ConnectionRefusedError):
            assert daemon.poll() is None, f"the daemon ended with status {daemon.returncode}"
            time.sleep(0.01)
    raise AssertionError("the daemon does not answer")


def give_up(number, frame):
    raise SystemExit(f"ended by {signal.Signals(number).name}")


def main(program):
    # Whatever ends this ends the daemon, too; and nothing here takes longer.
    signal.signal(signal.SIGTERM, give_up)
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(120)
    passed, failed = 0, []

    def run(name, body):
        nonlocal passed
        try:
            body()
            passed += 1
            print(f"ok    {name}")
        except Exception:
            failed.append(name)
            print(f"FAIL  {name}\n{traceback.format_exc()}")

    with tempfile.TemporaryDirectory() as directory:
        configuration = f"{directory}/countdownd.conf"
        open(configuration, "w").close()
        daemon = subprocess.Popen([program, "--config", configuration, "--socket", f"{directory}/socket",
                                   "--log-level", "warning"])
        try:
            peer = connect(f"unix:{directory}/socket", configuration, daemon)
            for function in cases:
                run(function.__name__, lambda: function(peer, function.__name__))
            peer.close()

            def ends_well():
                daemon.terminate()
                assert daemon.wait(timeout=5) == 0, f"exit status {daemon.returncode}"

            run("a_stop_ends_it_with_status_0", ends_well)
        finally:
            daemon.kill()
            daemon.wait()
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
