# SPDX-License-Identifier: BSD-3-Clause
"""Gathers, while a migration runs, what report.py shows of it. All times are converted to the host's clock."""
import json
import os
import time

from tests.harness.control import DONE

WATCHED = "/run/job/watch.json"
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


def phases(began, document):
    """The phases as spans, which follow each other without a gap."""
    spans = []
    for phase in document["phases"]:
        end = began + phase["milliseconds"] / 1000
        name = phase["phase"].replace("_", " ") + (f" {phase['card']}" if "card" in phase else "")
        spans.append({"name": name, "begin": began, "end": end, "well": phase["well"]})
        began = end
    return spans


def blackout(spans, document):
    """[begin, end] of the guest's pause: QEMU reports its length, and it ends with the migration."""
    downtime_ms = document["migration"].get("downtime-ms")
    ends = [span["end"] for span in spans if span["name"] == "migrate"]
    return [ends[0] - downtime_ms / 1000, ends[0]] if ends and downtime_ms is not None else None


def samples(path, to_host):
    """The samples that the ranks of one guest have printed."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.startswith('{"stream"')]
    return [{"rank": line["stream"], "t": to_host(line["t"]), "seconds": line["seconds"], "bytes": line["bytes"],
             "gap_us": line["gap_us"]} for line in lines]


class Log:
    """Begins to watch the job at once, in a guest that stays where it is."""

    def __init__(self, lab, stays):
        self.lab, self.stays = lab, stays
        self.offsets = {guest.name: [clock_offset(guest)] for guest in lab.guests}
        self.transports = {}  # pair -> {moment: transport}
        stays.start_script(f"btlctl --json --timeout 3600 watch --interval 5 >{WATCHED} 2>/dev/null </dev/null")

    def look(self, job, moment):
        """Records which transport each pair of ranks on different guests uses. Of several looks at one moment, the first that
        shows a pair elsewhere than before counts."""
        members = job.btlctl(self.stays, "status", "--peers").expect(DONE).json["members"]
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

    def stop(self, job):
        """Ends the recording, while the guests still answer."""
        for guest in self.lab.guests:
            self.offsets[guest.name].append(clock_offset(guest))
        lines = self.stays.output(f"cat {WATCHED}").splitlines()
        self.events = [json.loads(line) for line in lines if line.startswith("{")]

    def record(self, title, began, document, totals, logs):
        spans = phases(began, document)
        still = blackout(spans, document)
        found = []
        for guest in self.lab.guests:
            before, after = self.offsets[guest.name]
            # A guest's clock stops with it.
            moves = still[0] - before if still and abs(after - before) > 0.001 else float("inf")
            found += samples(os.path.join(logs, guest.name + ".log"),
                             lambda t, a=before, b=after, m=moves: t + (b if t > m else a))
        first = max(min(sample["t"] for sample in found), began - 10)
        return {"title": title, "samples": [sample for sample in found if sample["t"] >= first],
                "phases": spans, "rungs": rungs(self.events, self.offsets[self.stays.name][0]), "blackout": still,
                "transports": {pair: [seen.get(moment, "-") for moment in MOMENTS] for pair, seen in self.transports.items()},
                "proof": {name: totals[name] for name in ("sent", "received", "lost", "repeated", "out_of_order", "corrupt")}}
