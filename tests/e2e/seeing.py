# SPDX-License-Identifier: BSD-3-Clause
"""What btlctl shows of a job from its processes' pages: history, top, metrics, trace, topology. Each is compared with
what was done to the job, and does not wake the processes."""
import math
import subprocess
import time
import xml.etree.ElementTree

from tests.e2e.coordinators import finished, held_in_time
from tests.e2e.silence import AGENT
from tests.harness import kernel, processes
from tests.harness.control import DONE, Answer, btlctl, counted, order
from tests.harness.job import MpiJob
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.waiting import PATIENCE, check, wait_until

RANKS = 4


def _plain(job, *arguments):
    """Runs one of the commands whose output is no JSON document."""
    done = subprocess.run([*job.enter, job.build.btlctl, *arguments], env=job.environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60 * PATIENCE, check=False)
    return Answer(arguments, done.returncode, done.stdout, done.stderr).expect(DONE).output


def _samples(text):
    """{(name, rank, transport): value} of an OpenMetrics text, read by Prometheus's own parser where Debian has it."""
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        check(text.endswith("# EOF\n"), "the metrics have no end")
        return None
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, sample.labels.get("rank"), sample.labels.get("transport"), sample.labels.get("lane"),
                   sample.labels.get("state"))
            check(key not in found, f"twice in the metrics: {key}")
            found[key] = sample.value
    return found


def _sum(samples, name, transport, lane=None):
    return sum(value for key, value in samples.items() if key[:1] + key[2:4] == (name, transport, lane))


def _check_history(job):
    """The coordinator left the last switch on newtx, and the job finished it."""
    document = btlctl(job, "history").expect(DONE).json
    last = document["switches"][-1]
    check((last["verb"], last["arguments"], last["end"]) == ("switch", ["sm", "tcp"], "done"), f"the last switch is told as {last}")
    check(last["ordered_by"].endswith("by btlctl switch"), f"ordered by {last['ordered_by']}")
    check(last["finished_by"].startswith("the job itself, by rank"), f"finished by {last['finished_by']}")
    check(last["members"] == RANKS, f"{last['members']} processes remember it")
    rungs = [rung["rung"] for rung in last["rungs"]]
    check(rungs[:2] == ["joint", "newtx"] and rungs[-1] == "new", f"its rungs: {rungs}")
    check(all(rung["reached"] == RANKS for rung in last["rungs"]), f"not all have reached its rungs: {last['rungs']}")
    # On newtx, the coordinator's lease was waited for: at least 3 seconds.
    check(last["milliseconds"] > 3000, f"it took {last['milliseconds']} ms, though nobody went on for seconds")
    first = document["switches"][0]
    check(first["arguments"] == ["sm", "tcp"] and not first["finished_by"], f"the first switch is told as {first}")
    check(_plain(job, "history", "--last", "1").count("switch sm tcp: done") == 1, "history --last 1 is another one")
    return last


def _check_top(job):
    document = btlctl(job, "top", "--once", "--interval", "1").expect(DONE).json
    rates = {each["name"]: each for each in document["transports"]}
    check(rates["tcp"]["bytes_sent"] > 0, f"nothing moves by tcp: {rates}")
    check(rates["sm"]["bytes_sent"] == 0 and rates["sm"]["pairs"] == 0, f"sm is in use: {rates['sm']}")
    check(rates["tcp"]["pairs"] > 0 and rates["tcp"]["pairs"] == _listed_pairs(job, "tcp"), f"pairs by tcp: {rates['tcp']}")
    busiest = document["pairs"][0]
    check(busiest["sending"] == "tcp" and busiest["bytes_sent"] > 0, f"the busiest pair: {busiest}")
    check("\x1b" not in _plain(job, "top", "--once", "--interval", "0.2"), "top sends controls into a pipe")
    return rates["tcp"]["bytes_sent"]


def _listed_pairs(job, transport):
    """By asking every process: a pair has two ends, one with itself has both in one process."""
    ends = sum(each["peers"] + (1 if each["own_pair"] and each["peers"] else 0)
               for member in btlctl(job, "list").expect(DONE).json["members"]
               for each in member["transports"] if each["name"] == transport)
    return (ends + 1) // 2


def _check_metrics(job):
    before = counted(job, "tcp", "bytes_sent")

    def caught_up():
        job.check_running()
        samples = _samples(_plain(job, "metrics"))
        return samples is None or _sum(samples, "livebtl_sent_bytes_total", "tcp") >= before
    wait_until("the metrics to have what btlctl list said", caught_up, 30)
    samples = _samples(_plain(job, "metrics"))
    after = counted(job, "tcp", "bytes_sent")
    if samples is None:
        return "no parser"
    check(_sum(samples, "livebtl_sent_bytes_total", "tcp") <= after, "the metrics count more bytes than the processes")
    check(_sum(samples, "livebtl_pairs", "sm", "ordered") == 0, "the metrics say that pairs use sm")
    check(samples[("livebtl_processes", None, None, None, None)] == RANKS, "the metrics do not have every process")
    ranks = {key[1] for key in samples if key[0] == "livebtl_process_info"}
    check(ranks == {str(rank) for rank in range(RANKS)}, f"the metrics are of ranks {ranks}")
    return f"{len(samples)} samples"


def _check_trace(job, last):
    events = btlctl(job, "trace").expect(DONE).json["traceEvents"]
    rows = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    check(rows == {(1, rank) for rank in range(RANKS)}, f"the rows of the trace are {rows}")
    begun = {}
    for event in events:
        row = (event["pid"], event["tid"])
        if event["ph"] == "X" and event["cat"] == "switch":
            begun[row] = event
        elif event["ph"] == "X":
            inside = begun[row]["ts"] - 0.01 <= event["ts"] and event["ts"] + event["dur"] <= begun[row]["ts"] + begun[row]["dur"] + 0.01
            check(inside, f"{event} does not lie in {begun[row]}")
    longest = max(event["dur"] for event in events if event["ph"] == "X") / 1000
    check(abs(longest - last["milliseconds"]) < 1, f"the trace has {longest} ms, the history {last['milliseconds']}")
    return len(events)


def _check_topology(job):
    document = btlctl(job, "topology").expect(DONE).json
    check([each["rank"] for each in document["processes"]] == list(range(RANKS)), f"the processes are {document['processes']}")
    check(len(document["nodes"]) == 1 and document["missing"] == 0, f"the nodes are {document['nodes']}")
    check(document["links"] and {each["transport"] for each in document["links"]} == {"tcp"}, f"the links are {document['links']}")
    picture = xml.etree.ElementTree.fromstring(_plain(job, "topology", "--svg"))
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    check(len(circles) == RANKS, f"the picture has {len(circles)} processes")
    return len(document["links"])


@scenario("seeing")
def seeing(context):
    """Switches, and kill -9 of btlctl in mid-ladder; then history, top, metrics, trace and topology show just that."""
    with MpiJob(context.build, context.logs, "storm", RANKS, ("--bytes", "20000")) as job:
        job.wait_ready()
        order(job, "switch", "sm", "tcp")
        order(job, "switch", "tcp", "sm")
        with held_in_time(job, "newtx", ("sm", "tcp")) as ladder:
            ladder.kill()
        wait_until("the job to finish what was left", lambda: finished(job, ("sm", "tcp")), 30, interval=0.2)
        last = _check_history(job)
        rate = _check_top(job)
        samples = _check_metrics(job)
        events = _check_trace(job, last)
        links = _check_topology(job)
        totals = job.finish(120)
    return (f"{rate / 1e6:.0f} MB/s by tcp, {samples}, {events} events, {links} links, the last switch took "
            f"{last['milliseconds'] / 1000:.1f} s; {totals['received']} messages")


@scenario("seeing-losses", NEEDS_ROOT)
def seeing_losses(context):
    """A connection is cut: top and the metrics show it, top with its reason, and it is in nobody's way."""
    with MpiJob(context.build, context.logs, "stream", 3, environment={"LIVEBTL_TRANSPORTS": "self,tcp"}) as job:
        job.wait_ready()
        pids = set(job.rank_pids().values())
        ends = wait_until("a data connection", lambda: [end for end in kernel.rank_connections(pids) if end.bytes_sent > 100_000], 30)
        kernel.sever(ends[0])

        def seen():
            job.check_running()
            losses = btlctl(job, "top", "--once", "--interval", "0.2").expect(DONE).json["losses"]
            return [loss for loss in losses if loss["transport"] == "tcp" and loss["why"]]
        losses = wait_until("the loss to be shown", seen, 30)
        age = time.time() - losses[0]["unix_ms"] / 1000
        check(-1 < age < 60 * PATIENCE, f"the loss is told to be {age:.0f} s old")
        samples = _samples(_plain(job, "metrics"))
        check(samples is None or _sum(samples, "livebtl_paths_lost_total", "tcp") > 0, "the metrics count no lost path")
        totals = job.finish(60)
    return f"{losses[0]['process']} to {losses[0]['peer']}: {losses[0]['why']}; {totals['received']} messages"


@scenario("seeing-wakes-nobody")
def wakes_nobody(context):
    """Pages of ranks that compute, sleep in MPI or are stopped are read repeatedly: no agent is woken, none is waited for."""
    looks = 20
    with MpiJob(context.build, context.logs, "quiet", 3) as job:
        job.wait_ready()
        pids = job.rank_pids()
        agents = {rank: (pid, processes.threads(pid, AGENT)[0]) for rank, pid in pids.items()}
        time.sleep(3)  # for what was begun to end
        begun = time.monotonic()
        before = {rank: processes.activity(*agent).wakes for rank, agent in agents.items()}
        with processes.standing_still(pids[1]):
            for _ in range(looks):
                check("# EOF" in _plain(job, "metrics"), "no metrics")
                check(len(btlctl(job, "topology").expect(DONE).json["processes"]) == 3, "a process is not shown")
                btlctl(job, "history").expect(DONE)
        woken = {rank: processes.activity(*agent).wakes - before[rank] for rank, agent in agents.items()}
        seconds = time.monotonic() - begun
        job.finish(60)
    most = math.ceil(seconds) + 1  # as in the scenario "silence"
    check(max(woken.values()) <= most, f"in {seconds:.1f} s agents were woken {woken} times by {3 * looks} looks")
    return f"{3 * looks} looks in {seconds:.1f} s; agents were woken {woken}"
