# SPDX-License-Identifier: BSD-3-Clause
"""btlctl set: it moves traffic, and moves it back; senseless values are refused, and change nothing."""
from tests.harness.control import DONE, NOT_FOUND, USAGE, btlctl, order
from tests.harness.job import MpiJob
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

NONSENSE = ("exclusivity=", "exclusivity=-1", "exclusivity=4294967296", "exclusivity=much", "exclusivity=1.5", "weight=0",
            "weight=-1", "weight=1000001", "weight=0x10", "weight", "=1", "latency=1", "weight=1 ", "single-copy=cma")


def _bytes_sent(job):
    """{transport: bytes that all members sent on it}"""
    sums = {}
    for member in order(job, "list").json["members"]:
        for transport in member["transports"]:
            sums[transport["name"]] = sums.get(transport["name"], 0) + int(transport["bytes_sent"])
    return sums


def _share_of_tcp(job, megabytes):
    """The share of tcp in the next `megabytes` MiB between ranks."""
    before = _bytes_sent(job)

    def sent():
        job.check_running()
        now = _bytes_sent(job)
        sm, tcp = (now[name] - before[name] for name in ("sm", "tcp"))
        return (sm, tcp) if sm + tcp >= megabytes << 20 else None
    sm, tcp = wait_until(f"{megabytes} MiB of traffic", sent, 60, interval=0.1)
    return tcp / (sm + tcp)


def _carrier(job):
    """The transport on which all pairs of ranks send; None while they differ."""
    used = {peer["transport"] for member in order(job, "status", "--peers").json["members"]
            for peer in member["engine"]["peers"] if peer["process"] != member["member"]["process"]}
    return used.pop() if len(used) == 1 else None


@scenario("set-exclusivity")
def set_exclusivity(context):
    """tcp gets the highest exclusivity, again and again: all pairs move to it, and back when it is reset."""
    rounds = max(3, context.switches // 10)
    with MpiJob(context.build, context.logs, "stream", 3) as job:
        job.wait_ready()
        for _ in range(rounds):
            answer = order(job, "set", "tcp", "exclusivity=70000")
            check(answer.json["pairs_moved"] == 3, f"not all pairs moved: {answer}")
            check(_carrier(job) == "tcp", "a pair does not send on the transport of highest exclusivity")
            there = _share_of_tcp(job, 4)
            check(there > 0.99, f"only {there:.3f} of the bytes went by tcp")
            check(order(job, "set", "tcp", "exclusivity=70000").json["already"], "set to what it is: not already so")
            order(job, "set", "tcp", "exclusivity=default")
            check(_carrier(job) == "sm", "a pair did not move back")
            back = _share_of_tcp(job, 4)
            check(back < 0.01, f"{back:.3f} of the bytes still went by tcp")
        totals = job.finish(60)
    return f"{rounds} times there ({there:.3f} by tcp) and back ({back:.3f}); {totals['received']} messages"


@scenario("set-weight")
def set_weight(context):
    """sm and tcp get the same exclusivity: bulk data is shared by weight, and follows when the weights change."""
    with MpiJob(context.build, context.logs, "storm", 2, ("--bytes", str(4 << 20))) as job:
        job.wait_ready()
        alone = _share_of_tcp(job, 32)
        listed = {one["name"]: one for one in order(job, "list").json["members"][0]["transports"]}
        order(job, "set", "tcp", f"exclusivity={listed['sm']['exclusivity']}", "weight=1")
        order(job, "set", "sm", "weight=1000")
        little = _share_of_tcp(job, 64)
        order(job, "set", "sm", "weight=1")
        order(job, "set", "tcp", "weight=1000")
        much = _share_of_tcp(job, 64)
        order(job, "set", "sm", "weight=default")
        order(job, "set", "tcp", "exclusivity=default", "weight=default")
        after = _share_of_tcp(job, 64)
        totals = job.finish(120)
    shares = f"by tcp: alone {alone:.2f}, light {little:.2f}, heavy {much:.2f}, afterwards {after:.2f}"
    check(alone < 0.01 and after < 0.01, f"tcp carried what is sm's: {shares}")
    check(little < 0.2 and much > 0.8, f"the shares are not those of the weights: {shares}")
    return f"{shares}; {totals['received']} messages"


def _exposed_of(job, megabytes):
    """The fragments exposed for a single copy, per MiB, in the next `megabytes` MiB between ranks."""
    def now():
        one = [transport for member in order(job, "list").json["members"] for transport in member["transports"]
               if transport["name"] == "sm"]
        return sum(int(each["bytes_sent"]) for each in one), sum(int(each["frames_exposed"]) for each in one)
    before = now()

    def sent():
        job.check_running()
        after = now()
        return after if after[0] - before[0] >= megabytes << 20 else None
    after = wait_until(f"{megabytes} MiB of traffic", sent, 60, interval=0.1)
    return (after[1] - before[1]) / ((after[0] - before[0]) / (1 << 20))


@scenario("set-single-copy")
def set_single_copy(context):
    """Large messages over sm: copied once, twice, once again, as ordered, while they flow."""
    with MpiJob(context.build, context.logs, "storm", 2, ("--bytes", str(4 << 20))) as job:
        job.wait_ready()
        figures = []
        for way, expected in (("cma", True), ("none", False), ("cma", True), ("default", None)):
            order(job, "set", "sm", f"single-copy={way}")
            _exposed_of(job, 16)  # what was under way ends as it began
            figures.append((way, _exposed_of(job, 64), expected))
        totals = job.finish(120)
    for way, exposed, expected in figures:
        check(expected is None or (exposed > 0.5) == expected and (expected or exposed == 0),
              f"single-copy={way}: {exposed:.2f} fragments a MiB were exposed")
    return ", ".join(f"{way}: {exposed:.2f} exposed a MiB" for way, exposed, _ in figures) + f"; {totals['received']} messages"


@scenario("set-nonsense")
def set_nonsense(context):
    """Senseless values are refused as usage errors, and change nothing."""
    with MpiJob(context.build, context.logs, "stream", 2) as job:
        job.wait_ready()
        before = [member["routing"] for member in order(job, "status").json["members"]]
        for value in NONSENSE:
            btlctl(job, "set", "tcp", value).expect(USAGE)
        btlctl(job, "set", "tcp", "weight=1", "weight=2").expect(USAGE)
        btlctl(job, "set", "tcp").expect(USAGE)
        btlctl(job, "set", "pigeon", "weight=1").expect(NOT_FOUND)
        after = [member["routing"] for member in btlctl(job, "status").expect(DONE).json["members"]]
        check(after == before, f"a refused set changed {before} to {after}")
        job.finish(60)
    return f"{len(NONSENSE) + 3} refused"
