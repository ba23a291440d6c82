# SPDX-License-Identifier: BSD-3-Clause
"""Gathers, while a migration runs, what report.py shows of it. All times are converted to the host's clock."""
import json
import os
import time

from tests.harness.control import DONE
from tests.harness.waiting import wait_until

WATCHED = "/run/job/watch.json"
SHOWN_BEFORE_SECONDS = 20
MOMENTS = ("before", "during", "after")


def clock_offset(guest):
    """Seconds to add to the guest's time to get the host's."""
    asked = time.time()
    told = float(guest.output("date +%s.%N"))
    return (asked + time.time()) / 2 - told


def rungs(events, offset):
    """Spans of a checkpoint's rungs, from the output of `btlctl --json watch`; a span ends when the last member reaches the rung."""
    spans = []
    standings = (each for each in events if each.get("verb") == "checkpoint" and each["arguments"] and each["rung"] != "old")
    for event in sorted(standings, key=lambda each: each["unix_ms"]):
        moment = event["unix_ms"] / 1000 + offset
        # A member may report a rung a little after others have reported the next.
        name = f"{event['arguments'][0]}: {event['rung']}"
        span = next((each for each in spans[-2:] if each["name"] == name), None)
        if span is None:
            span = {"name": name, "begin": moment, "end": moment}
            spans.append(span)
        span["end"] = max(span["end"], moment)
    return spans


def phases(began, document, of=""):
    """The phases as spans, which follow each other without a gap. of: what they are phases of, in front of their names."""
    spans = []
    for phase in document["phases"]:
        end = began + phase["milliseconds"] / 1000
        name = " ".join(filter(None, (of, phase["phase"].replace("_", " "), phase.get("card"))))
        spans.append({"name": name, "begin": began, "end": end, "well": phase["well"]})
        began = end
    return spans


def blackout(spans, document):
    """The guest's pause: QEMU reports its length, and it ends with the migration. None: nothing is known of one."""
    downtime_ms = document["migration"].get("downtime-ms")
    ends = [span["end"] for span in spans if span["name"] == "migrate"]
    if not ends or downtime_ms is None:
        return None
    return {"what": "the guest stood still", "begin": ends[0] - downtime_ms / 1000, "end": ends[0]}


def not_running(spans):
    """Between a dump that has ended the processes and the end of the load of a restore."""
    ends = {span["name"]: span["end"] for span in spans}
    return {"what": "no process of the job was there", "begin": ends["dump save"], "end": ends["restore load"]}


def samples(path, to_host):
    """The samples that the ranks of one guest have printed."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.startswith('{"stream"')]
    return [{"rank": line["stream"], "t": to_host(line["t"]), "seconds": line["seconds"], "bytes": line["bytes"],
             "gap_us": line["gap_us"]} for line in lines]


class Log:
    """stays: a guest that stays where it is, where the job is asked and watched."""

    def __init__(self, lab, stays):
        self.lab, self.stays = lab, stays
        self.offsets = {guest.name: [clock_offset(guest)] for guest in lab.guests}
        self.transports = {}  # pair -> {moment: transport}
        self.events = []
        self.watched = False

    def watch(self):
        """From now on the rungs of ladders are recorded. Not while the job is dumped: it would be connected to the watcher."""
        self.watched = True
        self.stays.start_script(f"btlctl --json --timeout 3600 watch --interval 5 >{WATCHED} 2>/dev/null </dev/null")

    def look(self, job, moment):
        """Records which transport each pair of ranks on different guests uses. Of several looks at one moment, the first that
        shows a pair elsewhere than before counts. False: not all members have answered."""
        answer = job.btlctl(self.stays, "status", "--peers")
        if answer.code != DONE:
            return False
        members = answer.json["members"]
        ranks = {member["member"]["process"]: member["rank"] for member in members}
        seen = {}
        for member in members:
            for peer in member["engine"]["peers"]:
                other = ranks.get(peer["process"])
                if other is not None and member["rank"] < other and member["rank"] // 2 != other // 2:
                    seen[f"rank {member['rank']} - rank {other}"] = peer["transport"] or "-"
        for pair, transport in seen.items():
            known = self.transports.setdefault(pair, {})
            if moment != "during" or known.get(moment) in (None, known.get("before")):
                known[moment] = transport
        return True

    def wait_look(self, job, moment):
        """The same, once all answer: after a restore the nodes have to find each other again."""
        wait_until("all members to answer", lambda: self.look(job, moment), 60 * self.lab.pace, interval=0.5)

    def stop(self):
        """Ends the recording, while the guests still answer."""
        for guest in self.lab.guests:
            self.offsets[guest.name].append(clock_offset(guest))
        if not self.watched:
            return
        lines = self.stays.output(f"cat {WATCHED}").splitlines()
        self.events = [json.loads(line) for line in lines if line.startswith("{")]

    def record(self, title, spans, still, totals, logs):
        """spans: of phases(); still: of blackout() or not_running()."""
        found = []
        for guest in self.lab.guests:
            before, after = self.offsets[guest.name]
            # A guest's clock stops with it.
            moves = still["begin"] - before if still and abs(after - before) > 0.001 else float("inf")
            found += samples(os.path.join(logs, guest.name + ".log"),
                             lambda t, a=before, b=after, m=moves: t + (b if t > m else a))
        first = max(min(sample["t"] for sample in found), spans[0]["begin"] - SHOWN_BEFORE_SECONDS)
        return {"title": title, "samples": [sample for sample in found if sample["t"] >= first],
                "phases": spans, "rungs": rungs(self.events, self.offsets[self.stays.name][0]), "blackout": still,
                "transports": {pair: [seen.get(moment, "-") for moment in MOMENTS] for pair, seen in self.transports.items()},
                "proof": {name: totals[name] for name in ("sent", "received", "lost", "repeated", "out_of_order", "corrupt")}}
