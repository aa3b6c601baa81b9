"""What clock-test.sh needs done inside its machine: a scene each time it is run.

  clock-peer.py SCENE

A scene starts countdowns, moves the machine's clocks, asks the daemon, and compares what it says with
what the clocks read here. It prints a line for each thing shown, and ends with an AssertionError at the
first that does not hold. What one scene leaves for another, and all that the recorder was told, lies in
/run/clock. All times are in microseconds.

No length of time is asserted, for the machine is slow: only order, state, and that nothing is early.
"""
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time

from varlink_peer import Peer

SECOND = 1_000_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR
YEAR = 8_766 * HOUR
NOISE = 2_000  # So far apart two readings of a difference of clocks may lie here, and a sleep or a step.
FOLDER = "/run/clock"
EVENTS = f"{FOLDER}/events"
WATCHED = f"{FOLDER}/watched"
STATE = f"{FOLDER}/state"
CLOCKS = {
    "boottime": time.CLOCK_BOOTTIME,
    "monotonic": time.CLOCK_MONOTONIC,
    "realtime": time.CLOCK_REALTIME,
}


def shows(sentence):
    print(f"ok    {sentence}", flush=True)


# The clocks, as they are read here.


def now(clock):
    return time.clock_gettime_ns(CLOCKS[clock]) // 1_000


def difference(one, other):
    """One clock minus another, both read at the same time as nearly as can be."""
    tries = []
    for _ in range(20):
        before = now(other)
        value = now(one)
        after = now(other)
        tries.append((after - before, value - before))
    return min(tries)[1]


def asleep():
    return difference("boottime", "monotonic")


def offset():
    return difference("realtime", "boottime")


def step(by):
    """Sets the wall clock; how far that really was."""
    before = offset()
    time.clock_settime_ns(time.CLOCK_REALTIME, (now("realtime") + by) * 1_000)
    return offset() - before


def until(clock, instant):
    while now(clock) < instant:
        time.sleep(max(instant - now(clock), 1_000) / SECOND)


def wait_for(condition, what, seconds=100):
    limit = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < limit, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return value


# The daemon.


def main_pid():
    return int(subprocess.check_output(["systemctl", "show", "-P", "MainPID", "countdownd"]))


def waits(pid):
    """How often its loop has begun to wait."""
    with open(f"/proc/{pid}/task/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))


def call(method, **parameters):
    peer.send((method, {"parameters": parameters}))
    reply = peer.reply()
    assert "error" not in reply, f"{method} {parameters}: {reply}"
    return reply["parameters"]


def start(name, length=None, clock="boottime", **more):
    """Starts a countdown that is told of once; `length` of a realtime one is from now on."""
    if clock == "realtime":
        more["deadlineUSec"] = now("realtime") + length
    else:
        more["durationUSec"] = length
    reply = call("Start", name=name, clock=clock, **more)
    assert reply["created"] and reply["state"] == "running", reply
    if clock == "realtime":
        assert reply["deadline"]["realtimeUSec"] == more["deadlineUSec"], reply
    else:
        assert reply["deadline"][member(clock)] == reply["now"][member(clock)] + length, reply
    assert reply["remainingUSec"] <= max(length, 0), reply
    state["expected"][name] = 1
    return reply


def cancel(*names):
    for name in names:
        call("Cancel", name=name)
        del state["expected"][name]


def get(name):
    reply = call("Get", name=name)
    return reply["countdown"], reply["now"]


def member(clock):
    return f"{clock}USec"


def expect_running(name):
    """It runs, and what remains is what its own clock says, and not more than when it was last asked."""
    countdown, reading = get(name)
    own = member(countdown["clock"])
    assert countdown["state"] == "running", countdown
    remaining = countdown["deadline"][own] - reading[own]
    assert countdown["remainingUSec"] == remaining > 0, (countdown, reading)
    if countdown["clock"] != "realtime":  # Neither ever grows, nor moves.
        deadline, before = state["seen"].get(name, (countdown["deadline"][own], remaining))
        assert countdown["deadline"][own] == deadline, f"{name} moved from {deadline}: {countdown}"
        assert remaining <= before, f"{name} grew from {before}: {countdown}"
    state["seen"][name] = countdown["deadline"][own], remaining
    return countdown


def expect_lasting():
    for name in ("lasting/boottime", "lasting/monotonic", "lasting/realtime"):
        expect_running(name)


class Told:
    """All that the recorder was told, as it comes."""

    def __init__(self):
        self.file = open(EVENTS)
        self.piece = ""
        self.events = []
        self.by_name = {}

    def read(self):
        while line := self.file.readline():
            self.piece += line
            if not line.endswith("\n"):
                break
            told, self.piece = json.loads(self.piece), ""
            assert "error" not in told and "gap" not in told, told
            for event in told.get("events", []):
                event["here"] = told["here"]
                self.events.append(event)
                self.by_name.setdefault(event.get("name"), []).append(event)

    def wait(self, *names, kind="expired"):
        """The one event of each of the names, in the order in which they came; all of a kind."""

        def all_there():
            self.read()
            return all(name in self.by_name for name in names)

        wait_for(all_there, f"an event of each of {names[:20]}")
        names = set(names)
        events = [event for event in self.events if event.get("name") in names]
        assert len(events) == len(names) and {event["kind"] for event in events} == {kind}, events
        for event in events:
            expect_in_time(event)
        return events


def own_clock(event):
    return next((clock for clock in ("boottime", "monotonic") if member(clock) in event["deadline"]), "realtime")


def expect_in_time(event):
    """It is not early: by what it says of its own clock, nor, of clocks that nobody sets, by what was read
    when it came. And it says rightly how late it is."""
    own = member(own_clock(event))
    assert event["kind"] in ("expired", "missed"), event
    late = event["at"][own] - event["deadline"][own]
    assert late >= 0, f"early: {event}"
    assert event["lateUSec"] == late, event
    assert (event["lateReason"] != "none") == (late >= 10_000), event
    for clock in ("boottime", "monotonic"):
        assert event["at"][member(clock)] <= event["here"][member(clock)], f"told ahead of time: {event}"


def expect_reason(events, *reasons):
    for event in events:
        assert event["lateReason"] in reasons, f"{reasons}: {event}"


def expect_order(events):
    """Told in order of deadline: by when on boottime each came due."""
    due = [event["at"]["boottimeUSec"] - event["lateUSec"] for event in events]
    assert due == sorted(due), [(event["name"], event["at"], event["lateUSec"]) for event in events]


def discontinuities(new, stalls=False):
    """What GetClocks has that is new: so many, stalls not counted."""
    fresh = [
        one
        for one in call("GetClocks")["discontinuities"]
        if one["at"]["boottimeUSec"] > state["noticed"] and (one["kind"] == "stalled") == stalls
    ]
    assert new is None or len(fresh) == new, f"{new} are new, {fresh} are told"
    if not stalls and fresh:
        state["noticed"] = fresh[-1]["at"]["boottimeUSec"]
        state["discontinuities"] += fresh
    return fresh


def expect_moved(one, kind, slept=None, stepped=None):
    assert one["kind"] == kind, one
    for name, amount in (("sleptUSec", slept), ("steppedUSec", stepped)):
        if amount is None:
            assert name not in one, one
        else:
            assert abs(one[name] - amount) <= NOISE, f"{name} should be {amount}: {one}"
    assert "awayUSec" not in one, one


def step_and_see(by):
    """Sets the wall clock, and waits until the daemon has noticed by itself, without being asked."""
    pid = main_pid()
    before = waits(pid)
    moved = step(by)
    wait_for(lambda: waits(pid) != before, "the daemon wakes when the clock is set", seconds=5)
    asked = now("boottime")
    one, = discontinuities(1)
    expect_moved(one, "stepped", stepped=moved)
    assert one["at"]["boottimeUSec"] <= asked, f"noticed only when asked, at {asked}: {one}"
    return one


# The scenes.


def record():
    """Writes down what a subscriber is told, and what the clocks read then; until it is killed."""
    subscriber = Peer()
    subscriber.socket.settimeout(None)
    subscriber.send(("Subscribe", {"more": True}))
    with open(EVENTS, "w", buffering=1) as file:
        while (reply := subscriber.reply()) is not None:
            told = {**reply["parameters"], "here": {member(clock): now(clock) for clock in CLOCKS}}
            if "error" in reply:
                told["error"] = reply["error"]
            file.write(json.dumps(told) + "\n")
            if told.get("ready"):
                open(f"{FOLDER}/ready", "w").close()


def watch():
    """Writes down how those that last all the time are told to stand; until it is killed."""
    watcher = Peer()
    watcher.socket.settimeout(None)
    watcher.send(("Watch", {"more": True, "parameters": {"names": [f"lasting/{clock}" for clock in CLOCKS]}}))
    with open(WATCHED, "w", buffering=1) as file:
        while (reply := watcher.reply()) is not None:
            file.write(json.dumps(reply) + "\n")


def begin():
    state.update(expected={}, seen={}, noticed=0, discontinuities=[], asleep=asleep(), offset=offset())
    state["pid"] = main_pid()
    clocks = call("GetClocks")
    assert abs(clocks["sleptUSec"] - asleep()) <= NOISE and clocks["sleptUSec"] > 45 * HOUR, clocks
    assert len(clocks["bootID"]) == 32 and clocks["synchronized"] is False, clocks
    shows("GetClocks tells how long the machine has slept; that the daemon did not see is no discontinuity")
    discontinuities(0)
    before = now("boottime")
    reply = start("b01", 3 * SECOND)
    countdown = expect_running("b01")
    assert countdown["remainingUSec"] <= 3 * SECOND
    assert before + 3 * SECOND <= reply["deadline"]["boottimeUSec"] <= now("boottime") + 3 * SECOND, reply
    for clock in CLOCKS:
        start(f"lasting/{clock}", 100 * YEAR, clock)
    event, = told.wait("b01")
    assert event["here"]["boottimeUSec"] >= before + 3 * SECOND, event
    shows("B01: 46 hours of sleep before it started add nothing to 3 s, and take nothing from them")


NIGHT_DURING = ("night/7h", "night/b07", "night/r3h", "night/1h", "night/b36 x", "night/r2h", "night/4h")


def night_before():
    for clock in CLOCKS:
        start(f"night/before {clock}", SECOND, clock)
    start("night/7h", 7 * HOUR)
    start("night/b07", 60 * SECOND)
    start("night/r3h", 3 * HOUR, "realtime")
    start("night/1h", HOUR)
    start("night/b36 x", 600 * SECOND)
    start("night/b36 y", 600 * SECOND, "monotonic")
    start("night/m3h", 3 * HOUR, "monotonic")
    start("night/r2h", 2 * HOUR, "realtime")
    start("night/4h", 4 * HOUR)
    start("night/repeats", HOUR // 2, repeatUSec=HOUR)
    start("night/b02", 10 * HOUR)
    start("night/skipped", HOUR, catchUp="skip")
    start("night/skipped r", HOUR, "realtime", catchUp="skip", graceUSec=6 * HOUR)
    start("night/in grace", HOUR, catchUp="skip", graceUSec=9 * HOUR)
    start("night/skip m", 600 * SECOND, "monotonic", catchUp="skip")
    start("night/r9h", 9 * HOUR, "realtime")
    over = 8 * HOUR + 8 * SECOND
    for clock, length in (("boottime", over), ("realtime", over), ("monotonic", 12 * SECOND)):
        start(f"night/after {clock}", length, clock)
    expect_reason(told.wait(*(f"night/before {clock}" for clock in CLOCKS)), "none", "overload")
    shows("before the sleep: one of each clock expires, not early")
    for name in NIGHT_DURING + ("night/b36 y", "night/m3h", "night/b02", "night/r9h"):
        expect_running(name)
    state["before sleep"] = {
        "asleep": asleep(), **{clock: now(clock) for clock in CLOCKS}, "b02": state["seen"]["night/b02"]}


def slept():
    """How long the machine slept since a scene left its readings."""
    return asleep() - state["before sleep"]["asleep"]


def night_after():
    events = told.wait(*NIGHT_DURING)
    one, = discontinuities(1)
    before = state["before sleep"]
    assert slept() > 8 * HOUR - 2 * SECOND
    expect_moved(one, "slept", slept=slept())
    shows("8 hours of suspend to RAM are told once, as that: slept")
    for event in events:
        # At the earliest when it woke.
        assert event["at"]["boottimeUSec"] >= before["boottime"] + slept() - NOISE, event
        assert event["at"][member(own_clock(event))] >= before[own_clock(event)] + slept() - NOISE, event
    shows("what was due during the sleep expires once, on waking; lateUSec counts by its own clock")
    expect_reason(events, "suspend")
    assert get("night/b07")[0]["lateReason"] == "suspend"
    shows("lateReason says suspend, in the event and in Get")
    expect_order(events)
    assert [event["name"] for event in events] == [
        "night/b07", "night/b36 x", "night/1h", "night/r2h", "night/r3h", "night/4h", "night/7h"]
    shows("the overdue expire in order of deadline, whatever their clock")
    event = next(event for event in events if event["name"] == "night/b07")
    assert event["lateUSec"] > 8 * HOUR - 62 * SECOND, event
    shows("B07: a minute that ended in the sleep expires on waking, late by the rest of the sleep")
    for name in ("night/m3h", "night/b36 y"):
        countdown = expect_running(name)
        assert countdown["clock"] == "monotonic", countdown
    assert get("night/b36 x")[0]["clock"] == "boottime"
    shows("B36: of two of 10 min, the one counts the sleep, the other does not; Get names the clocks")
    expect_running("night/r9h")
    countdown = expect_running("night/b02")
    deadline, remaining = before["b02"]
    assert countdown["remainingUSec"] <= remaining - slept(), countdown
    shows("B02: what remains is less by the sleep, to the same deadline")
    event, = [event for event in told.by_name["night/repeats"] if event["kind"] == "expired"]
    assert event["occurrence"] == 8 and event["missedOccurrences"] == 7, event
    assert event["at"]["boottimeUSec"] - event["deadline"]["boottimeUSec"] == event["lateUSec"], event
    assert HOUR > event["lateUSec"] >= 0, event
    shows("one that repeats is told once, for the newest occurrence, with how many were overrun")
    missed = told.wait("night/skipped", "night/skipped r", kind="missed")
    expect_reason(missed + told.wait("night/in grace"), "suspend")
    assert get("night/skipped")[0]["state"] == "missed"
    expect_running("night/skip m")
    shows("what is to be skipped is missed where it was later than its grace, and else expires")
    cancel("night/repeats", "night/b02", "night/r9h", "night/m3h", "night/skip m")
    told.wait(*(f"night/after {clock}" for clock in CLOCKS))
    shows("after the sleep: one of each clock expires, not early")
    expect_lasting()


def steps():
    start("steps/b", 600 * SECOND)
    start("steps/m", 600 * SECOND, "monotonic")
    start("steps/follows", HOUR // 2, "realtime")
    start("steps/r2h", 2 * HOUR, "realtime")
    start("steps/skipped", HOUR // 2, "realtime", catchUp="skip", graceUSec=SECOND)

    def moved(by):
        step_and_see(by)
        for name in ("steps/b", "steps/m"):
            expect_running(name)  # That its deadline is the same, too.
        expect_lasting()

    for by in (SECOND, -SECOND):
        moved(by)
        expect_running("steps/follows")
    shows("steps of 1 s forward and back: noticed at once, and told with their amounts")
    moved(HOUR)
    event, = told.wait("steps/follows")
    assert event["lateUSec"] >= HOUR // 2 - 60 * SECOND, event
    countdown = expect_running("steps/r2h")
    assert countdown["remainingUSec"] <= HOUR, countdown
    missed, = told.wait("steps/skipped", kind="missed")
    expect_reason([event, missed], "clockStep")
    moved(-HOUR)
    assert get("steps/follows")[0]["state"] == "expired"
    assert get("steps/skipped")[0]["state"] == "missed"
    countdown = expect_running("steps/r2h")
    assert countdown["remainingUSec"] > HOUR, countdown
    shows("steps of 1 h: an instant of the wall clock that was passed is due, by clockStep, and stays expired")
    start("steps/u", 600 * SECOND, "realtime")
    moved(-18 * YEAR)
    countdown = expect_running("steps/u")
    assert 18 * YEAR < countdown["remainingUSec"] <= 18 * YEAR + 600 * SECOND, countdown
    shows("B10(a): 18 years back, an instant in 10 min is in 18 years and 10 min")
    moved(18 * YEAR)
    countdown = expect_running("steps/u")
    assert countdown["remainingUSec"] <= 600 * SECOND, countdown
    moved(DAY)
    events = told.wait("steps/r2h", "steps/u")
    expect_order(events)
    expect_reason(events, "clockStep")
    moved(-DAY)
    assert get("steps/u")[0]["state"] == "expired"
    shows("B06: -18 years, +18 years, +1 day, -1 day: lengths neither move nor grow, nor expire")
    cancel("steps/m")


def back():
    """B22(a). steps/b, which is still there, is due in the next sleep."""
    ping = ["systemctl", "show", "-P", "WatchdogTimestampMonotonic", "countdownd"]
    before = subprocess.check_output(ping)
    step_and_see(-HOUR)
    begun = now("boottime")
    start("back/b", 5 * SECOND)
    start("back/m", 5 * SECOND, "monotonic")
    for event in told.wait("back/b", "back/m"):
        assert event["here"]["boottimeUSec"] >= begun + 5 * SECOND, event
    wait_for(lambda: subprocess.check_output(ping) != before, "the watchdog is told")
    step_and_see(HOUR)
    shows("B22(a): an hour back, 5 s are 5 s, and the watchdog is told that the loop lives")


def leap():
    """A leap second, as the kernel inserts it at the end of a day of UTC."""
    insert, unsynchronized = "0x10", "0x40"
    step_and_see(DAY - now("realtime") % DAY - 3 * SECOND)
    adjtimex(insert)
    before = offset()
    pid = main_pid()
    waited, expiries = waits(pid), 0
    until("realtime", now("realtime") // DAY * DAY + DAY - 3 * SECOND // 2)
    waited = waits(pid)
    while offset() - before > -SECOND // 2 or expiries < 6:
        name = f"leap/{expiries}"
        begun = now("boottime")
        start(name, SECOND // 2)
        event, = told.wait(name)
        assert event["here"]["boottimeUSec"] >= begun + SECOND // 2, event
        expiries += 1
        assert expiries < 60, "there is no leap second"
    waited = waits(pid) - waited
    adjtimex(unsynchronized)
    one, = discontinuities(1)
    expect_moved(one, "stepped", stepped=offset() - before)
    assert abs(one["steppedUSec"] + SECOND) <= NOISE, one
    shows("a leap second that the kernel inserts is told as a step of -1 s")
    assert waited <= 3 * expiries, f"{waited} wakes for {expiries} expiries"
    shows("B22(b): a chain of 0.5 s through a leap second: none shorter, and the loop does not spin")
    adjtimex("0")
    wait_for(lambda: call("GetClocks")["synchronized"], "it is told that the clock is right")
    step_and_see(SECOND)
    assert call("GetClocks")["synchronized"] is False
    shows("GetClocks says whether the kernel takes the clock for right, and at once when it was set")
    expect_lasting()


def adjtimex(status):
    subprocess.check_call(["perl", "/usr/local/lib/adjtimex.pl", status])


def pause_before():
    start("pause/b", HOUR)
    start("pause/r", HOUR, "realtime")
    expect_running("pause/b")


def pause_after():
    """The virtual machine was paused, its clocks with it; now somebody corrects the wall clock."""
    discontinuities(0)
    step_and_see(DAY)
    expect_running("pause/b")
    event, = told.wait("pause/r")
    expect_reason([event], "clockStep")
    assert event["lateUSec"] >= 23 * HOUR - SECOND, event
    discontinuities(0)
    cancel("pause/b")
    shows("B40: a paused machine whose wall clock is then corrected by a day: a step, told once, no more")
    expect_lasting()


def wake_before():
    """The daemon stands still, so that all of it meets it in one wake-up."""
    start("wake/b1h", HOUR)
    start("wake/m1h", HOUR, "monotonic")
    start("wake/r1h", HOUR, "realtime")
    start("wake/r9h", 9 * HOUR, "realtime")
    start("wake/r11h", 11 * HOUR, "realtime")
    expect_running("wake/b1h")
    os.kill(main_pid(), signal.SIGSTOP)
    state["before sleep"] = {"asleep": asleep(), "stepped": step(2 * HOUR)}


def wake_after():
    os.kill(main_pid(), signal.SIGCONT)
    events = told.wait("wake/b1h", "wake/r1h", "wake/r9h", "steps/b")
    one, = discontinuities(1)
    expect_moved(one, "sleptAndStepped", slept=slept(), stepped=state["before sleep"]["stepped"])
    shows("a step and a sleep in one wake-up are told as both, each with its amount")
    late = {event["name"]: event["lateUSec"] for event in events}
    assert 7 * HOUR - 60 * SECOND < late["wake/b1h"] < 8 * HOUR, late
    assert 9 * HOUR - 60 * SECOND < late["wake/r1h"] < 10 * HOUR, late
    assert HOUR - 60 * SECOND < late["wake/r9h"] < 2 * HOUR, late
    # Of what is an hour late nobody can know whether the clock passed it by the step or by the sleep.
    expect_reason([event for event in events if event["name"] != "wake/r9h"], "suspend")
    expect_reason(events, "suspend", "clockStep")
    for name in ("wake/m1h", "wake/r11h"):
        expect_running(name)
    shows("what it made due expires once, each late by its own clock; the rest runs on")
    shows("B06: the 600 s that saw the clock go to and fro have ended once, by the time that passed")
    cancel("wake/m1h", "wake/r11h")
    expect_lasting()


def nudge_before():
    start("nudge/b7h", 7 * HOUR)
    start("nudge/r5h", 5 * HOUR, "realtime")
    start("nudge/r7h", 7 * HOUR, "realtime")
    expect_running("nudge/b7h")
    state["before sleep"] = {"asleep": asleep(), "stepped": step(-2 * HOUR)}


def nudge_after():
    events = told.wait("nudge/b7h", "nudge/r5h")
    expect_reason(events, "suspend")
    expect_order(events)
    moved = discontinuities(None)
    assert len(moved) <= 2, moved
    for name, amount in (("sleptUSec", slept()), ("steppedUSec", state["before sleep"]["stepped"])):
        assert abs(sum(one.get(name, 0) for one in moved) - amount) <= NOISE, (name, amount, moved)
    expect_running("nudge/r7h")
    shows("a step back just before a sleep of 8 h: an instant in 7 h is 1 h away, 7 h are over")
    cancel("nudge/r7h")
    expect_lasting()


def stopped():
    """B32, by a process that is stopped; its countdowns come due meanwhile."""
    start("stopped/a", 0)
    told.wait("stopped/a")
    for name in ("stopped/b", "stopped/c"):
        start(name, HOUR)
    last = start("stopped/f", 1_300_000, "monotonic")
    start("stopped/d", SECOND)
    start("stopped/e", 1_200_000, "realtime")
    start("stopped/g", 1_100_000)
    start("stopped/skip", 1_000_000, catchUp="skip", graceUSec=SECOND)
    pid = main_pid()
    os.kill(pid, signal.SIGSTOP)
    due = last["deadline"]["monotonicUSec"]
    until("monotonic", due + 2 * SECOND)
    # A call that waits for it from before: what is due by then is handed out first.
    peer.send(("Cancel", {"parameters": {"name": "stopped/g"}}))
    going_on = now("monotonic")
    os.kill(pid, signal.SIGCONT)
    reply = peer.reply()
    assert reply["error"] == "io.countdownd.Countdown.AlreadyExpired", reply
    events = told.wait("stopped/d", "stopped/e", "stopped/f", "stopped/g", "stopped/skip")
    expect_order(events)
    expect_reason(events, "overload")
    for event in events:
        assert event["lateUSec"] >= going_on - due, event
    stalls = [one["awayUSec"] for one in discontinuities(None, stalls=True)]
    assert any(away >= going_on - due for away in stalls), stalls
    discontinuities(0)
    for name in ("stopped/b", "stopped/c"):
        expect_running(name)
    assert len(told.by_name["stopped/a"]) == 1
    cancel("stopped/b", "stopped/c")
    shows("B32: a stopped process loses nothing: what came due is late by overload, told once and in order")
    shows("and none of it is missed, whatever its grace")
    shows("GetClocks tells that as stalled, for how long, and not as a step or a sleep")
    expect_lasting()


def storm():
    """Steps of all sizes while countdowns of all clocks come due."""
    chance = random.Random(4)
    base = now("realtime")
    state["before storm"] = len(state["discontinuities"])
    names = []
    for number in range(40):
        names.append(f"storm/r{number}")
        start(names[-1], base + chance.randrange(2 * SECOND, 6 * SECOND) - now("realtime"), "realtime")
    for number in range(20):
        for clock in ("boottime", "monotonic"):
            names.append(f"storm/{clock[0]}{number}")
            start(names[-1], chance.randrange(500_000, 4 * SECOND), clock)
    first = offset()
    history = [(0, first)]  # Since when, on boottime, the wall clock is so far from that.
    ends = now("boottime") + 5 * SECOND
    while now("boottime") < ends or len(history) < 100:
        by = chance.choice((1, -1)) * 10 ** chance.randrange(2, 8) * chance.randrange(1, 10) // 10
        if abs(offset() + by - first) > 10 * SECOND:
            by = first - offset()
        began = now("boottime")
        step(by)
        history.append((began, offset()))
        if chance.randrange(3) == 0:
            time.sleep(chance.randrange(50_000) / SECOND)
    step(first - offset() + 20 * SECOND)
    history.append((now("boottime") - 100_000, offset()))
    for event in told.wait(*names):
        if own_clock(event) != "realtime":
            expect_reason([event], "none", "overload")
            continue
        expect_reason([event], "none", "overload", "clockStep")
        # That it read what it says, the wall clock was so at that time.
        at, read = event["at"]["boottimeUSec"], event["at"]["realtimeUSec"] - event["at"]["boottimeUSec"]
        spans = zip(history, history[1:] + [(now("boottime"), None)])
        possible = [away for (since, away), (till, _) in spans if since - 20_000 <= at <= till + 20_000]
        assert any(abs(read - away) <= NOISE for away in possible), (event, possible)
    for some in itertools.batched(names, 100):
        assert {one["state"] for one in call("GetMany", names=list(some))["countdowns"]} == {"expired"}
    discontinuities(None)
    shows(f"B22: a storm of {len(history)} steps around 80 deadlines: one outcome each, never early by its own clock")
    expect_lasting()


CROWD = 20_000


def crowd_before():
    """Due in the sleep, in another order than they are started in."""
    order = list(range(CROWD))
    random.Random(56).shuffle(order)
    for some in itertools.batched(order, 1_000):
        items = [{"name": f"crowd/{place}", "durationUSec": 120 * SECOND + 10_000 * place} for place in some]
        for result in call("StartMany", countdowns=items)["results"]:
            assert result["created"], result
    state["before sleep"] = {"asleep": asleep(), "boottime": now("boottime")}


def crowd_calls():
    """A client that calls all the time; until it is killed."""
    with open(f"{FOLDER}/caller", "w") as file:
        file.write(str(os.getpid()))
    with open(f"{FOLDER}/calls", "w", buffering=1) as file:
        while True:
            file.write(f"{get('lasting/boottime')[1]['boottimeUSec']}\n")
            time.sleep(0.005)


def crowd_after():
    names = [f"crowd/{place}" for place in range(CROWD)]
    events = told.wait(*names)
    with open(f"{FOLDER}/caller") as file:
        os.kill(int(file.read()), signal.SIGKILL)
    expect_order(events)
    expect_reason(events, "suspend")
    assert events[0]["lateUSec"] > events[-1]["lateUSec"] > 0
    assert events[0]["at"]["boottimeUSec"] >= state["before sleep"]["boottime"] + slept() - NOISE
    one, = discontinuities(1)
    expect_moved(one, "slept", slept=slept())
    deadlines = [event["deadline"]["boottimeUSec"] for event in events]
    assert deadlines == sorted(deadlines)
    shows(f"B56: {CROWD} that were due in a sleep expire once each, in order of deadline")
    with open(f"{FOLDER}/calls") as file:
        calls = [int(line) for line in file if line.endswith("\n")]
    first, last = (events[place]["at"]["boottimeUSec"] for place in (0, -1))
    between = sum(first <= at < last for at in calls)
    assert between, f"no call was answered while they were told, {first} to {last}"
    shows("B56: calls are answered in between")
    expect_lasting()
    state["expected"].update(dict.fromkeys(names, 1))


def audit():
    """All of it once more, at the end."""
    told.read()
    names = {}
    for event in told.events:
        if event["kind"] in ("expired", "missed") and event["name"] != "night/repeats":
            expect_in_time(event)
            names.setdefault(event["name"], []).append(event)
    for name, expected in state["expected"].items():
        came = names.pop(name, [])
        running = name.startswith("lasting/") or get(name)[0]["state"] == "running" if not came else False
        assert len(came) == (0 if running else expected), f"{name}: {came}"
    assert not names, f"nobody expected {names}"
    shows(f"all in all {len(told.events)} events: one outcome for each countdown, nothing early")

    machine = [event for event in told.events if event["kind"] in ("slept", "clockStepped")]
    for kind, amount in (("slept", "sleptUSec"), ("clockStepped", "steppedUSec")):
        amounts = [one[amount] for one in state["discontinuities"][: state["before storm"]] if amount in one]
        came = [event["byUSec"] for event in machine if event["kind"] == kind]
        assert came[: len(amounts)] == amounts, (kind, came, amounts)
    places = {id(event): place for place, event in enumerate(told.events)}
    for event in told.events:
        # An event that a sleep or a step made due came after that of the sleep or the step.
        if event.get("lateReason") in ("suspend", "clockStep"):
            before = [one for one in machine if one["at"]["boottimeUSec"] <= event["at"]["boottimeUSec"]]
            assert places[id(before[-1])] < places[id(event)], (before[-1], event)
    shows("who subscribes is told of each sleep and step, by how much, and before what it made due")

    lasting = {}
    readings = []
    with open(WATCHED) as file:
        replies = [json.loads(line)["parameters"] for line in file]
    for reply in replies:
        for countdown in reply["countdowns"]:
            if countdown["state"] == "running":
                lasting.setdefault(countdown["name"], []).append(countdown)
                readings.append(reply["now"]["boottimeUSec"])
    for name in ("lasting/boottime", "lasting/monotonic"):
        own = member(name.split("/")[1])
        assert len({countdown["deadline"][own] for countdown in lasting[name]}) == 1, lasting[name]
        remaining = [countdown["remainingUSec"] for countdown in lasting[name]]
        assert remaining == sorted(remaining, reverse=True), remaining
    moments = [one["at"]["boottimeUSec"] for one in state["discontinuities"][: state["before storm"] + 1]]
    for moment, following in zip(moments, moments[1:]):
        assert any(moment <= reading < following for reading in readings), (moment, following, readings)
    shows("B02: who watches is told again at every step and sleep; the remainder of a length never grew")

    subprocess.check_call(["journalctl", "--sync"])
    entries = [
        json.loads(line)
        for line in subprocess.check_output(["journalctl", "-b", "-u", "countdownd", "-o", "json"]).splitlines()
    ]
    kinds = {
        "932afac4e32e43828388f1627a2061c1": "slept",
        "ec0461198d4d43fab1784295dc2c59aa": "stepped",
        "b881a63fba7c46cf8ea27ee46cb8f161": "sleptAndStepped",
    }
    entries.sort(key=lambda entry: int(entry["__MONOTONIC_TIMESTAMP"]))
    logged = [
        (kinds[entry["MESSAGE_ID"]], int(entry.get("SLEPT_USEC", 0)), int(entry.get("STEPPED_USEC", 0)))
        for entry in entries
        if entry.get("MESSAGE_ID") in kinds
    ]
    seen = [(one["kind"], one.get("sleptUSec", 0), one.get("steppedUSec", 0)) for one in state["discontinuities"]]
    count = state["before storm"]
    assert logged[:count] == seen[:count], f"{logged[:count]}\n{seen[:count]}"
    shows(f"the journal has an entry for each of the {count} before the storm, in their order, with their amounts")
    total = sum(entry[1] for entry in logged), sum(entry[2] for entry in logged)
    for amount, moved in zip(total, (asleep() - state["asleep"], offset() - state["offset"])):
        assert abs(amount - moved) <= NOISE, f"{total} in the journal, {moved} by the clocks"
    told_of = tuple(
        sum(event["byUSec"] for event in machine if event["kind"] == kind) for kind in ("slept", "clockStepped")
    )
    assert told_of == total, f"{told_of} in the events, {total} in the journal"
    shows(f"the sums of all {len(logged)} are what the clocks have moved since the daemon started")
    errors = [entry for entry in entries if int(entry["PRIORITY"]) <= 4]
    assert not errors, errors
    shows("no warning and no error in the journal")
    assert main_pid() == state["pid"], "it is another process than at the beginning"


SCENES = {scene.__name__.replace("_", "-"): scene for scene in (
    record, watch, begin, night_before, night_after, steps, back, leap, pause_before, pause_after, wake_before,
    wake_after, nudge_before, nudge_after, stopped, storm, crowd_before, crowd_calls, crowd_after, audit)}

if len(sys.argv) != 2 or sys.argv[1] not in SCENES:
    sys.exit(__doc__ + "\nScenes: " + " ".join(SCENES))
scene = SCENES[sys.argv[1]]
if scene in (record, watch):
    scene()
    sys.exit()
peer, told = Peer(), Told()
state = {}
if scene is not begin:
    with open(STATE) as file:
        state = json.load(file)
scene()
if scene is not crowd_calls:
    with open(STATE, "w") as file:
        json.dump(state, file)
