# SPDX-License-Identifier: BSD-3-Clause
"""Paths that break, strangers that connect, and two nodes with a network between them."""
import errno
import random
import socket
import threading
import time

from tests.harness import kernel, processes
from tests.harness.control import DONE, btlctl, counted, drive
from tests.harness.job import MpiJob
from tests.harness.nodes import job_on_two_nodes
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.waiting import check, wait_until


@scenario("connections-severed", NEEDS_ROOT)
def severed_connections(context):
    """ss -K on the data connections under load, repeatedly: nothing is lost."""
    wanted = max(10, context.switches // 2)
    with MpiJob(context.build, context.logs, "stream", 3, environment={"LIVEBTL_TRANSPORTS": "self,tcp"}) as job:
        job.wait_ready()
        pids = set(job.rank_pids().values())
        chance = random.Random(1)
        for _ in range(wanted):
            def connected():
                job.check_running()
                return [end for end in kernel.rank_connections(pids) if end.bytes_sent > 100_000]
            ends = wait_until("a data connection under load", connected, 30)
            end = chance.choice(sorted(ends, key=lambda end: (end.local, end.remote)))
            kernel.sever(end)
        lost = sum(t["paths_lost"] for member in btlctl(job, "status").expect(DONE).json["members"]
                   for t in member["engine"]["transports"])
        check(lost >= wanted // 2, f"{wanted} connections were cut, but only {lost} path losses were seen")
        totals = job.finish(60)
    return f"{wanted} connections cut, {lost} path losses seen; {totals['received']} messages, none lost"


def _cut_under_load(job, chance, pids, standing=None):
    """Cuts a connection under load; with `standing`, one of that rank, while it is stopped."""
    def loaded():
        job.check_running()
        ends = kernel.rank_connections(pids)
        return [end for end in ends if end.bytes_sent > 10_000_000 and standing in (None, end.pid)]
    ends = wait_until("a connection under load", loaded, 60)
    end = chance.choice(sorted(ends, key=lambda end: (end.local, end.remote)))
    if standing is None:
        kernel.sever(end)
        return
    with processes.standing_still(standing):
        kernel.sever(end)
        time.sleep(2)  # longer than the silence after which a probe is sent


@scenario("connections-severed-under-loans", NEEDS_ROOT)
def severed_under_loans(context):
    """libfabric's connections are cut, and ranks are stopped, while payloads are exposed for the receiver to read."""
    return _sever_under_loans(context, "storm", max(6, context.switches // 4))


@scenario("connections-severed-under-puts", NEEDS_ROOT)
def severed_under_puts(context):
    """The same during puts and gets, which are checked byte by byte, and fetch-and-adds."""
    return _sever_under_loans(context, "regions", max(6, context.switches // 10))


def _sever_under_loans(context, program, wanted):
    environment = {"LIVEBTL_TRANSPORTS": "self,tcp,ofi", "LIVEBTL_OFI_PROVIDER": "tcp;ofi_rxm"}
    with MpiJob(context.build, context.logs, program, 3, ("--bytes", str(2 << 20)), environment=environment) as job:
        job.wait_ready()
        pids, chance = job.rank_pids(), random.Random(3)
        for i in range(wanted):
            _cut_under_load(job, chance, set(pids.values()), pids[i // 3 % 3] if i % 3 == 2 else None)

        wait_until("lost paths of ofi", lambda: counted(job, "ofi", "paths_lost") >= wanted // 3, 30)
        wait_until("payloads that are exposed", lambda: counted(job, "ofi", "frames_exposed") > wanted, 60)
        lost, lent = counted(job, "ofi", "paths_lost"), counted(job, "ofi", "frames_exposed")
        totals = job.finish(120)
    return (f"{wanted} connections cut, {lost} path losses seen, {lent} payloads lent; {totals['received']} messages, "
            f"none lost")


class Cutter(threading.Thread):
    """Repeatedly breaks all connections between the ranks. Use as a context manager."""

    PACE = 0.1  # seconds between two cuts, for the job to make progress

    def __init__(self, pids, ports):
        super().__init__(daemon=True)
        self.pids, self.ports = pids, ports
        self.cuts, self.failure = 0, None
        self._enough = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._enough.set()
        self.join()

    def run(self):
        try:
            while not self._enough.is_set():
                cut = kernel.sever_all(self.pids, self.ports)
                self.cuts += cut
                if cut:
                    self._enough.wait(self.PACE)
        except Exception as failure:  # reported by the scenario's own thread
            self.failure = failure


@scenario("connections-severed-and-switched", NEEDS_ROOT)
def severed_and_switched(context):
    """The driver switches while connections are cut, until enough of them were."""
    switches = 2 * max(5, context.switches // 4)
    wanted, done = max(5, context.switches // 10), 0
    with MpiJob(context.build, context.logs, "stream", 2) as job:
        job.wait_ready()
        pids = set(job.rank_pids().values())
        ports = {port for _, port in wait_until("listening ports", lambda: kernel.listening_ports(pids), 10)}
        with Cutter(pids, ports) as cutter:
            for _ in range(50):  # an even number of switches each time, so that traffic is on sm again
                drive(job, switches, 120 + 3 * switches, options=("--connections-are-cut",))
                done += switches
                if cutter.cuts >= wanted or cutter.failure:
                    break
        check(cutter.failure is None, f"the cutter failed: {cutter.failure}")
        check(cutter.cuts >= wanted, f"only {cutter.cuts} connections were cut in {done} switches")
        totals = job.finish(60)
    return f"{done} switches with {cutter.cuts} connections cut meanwhile; {totals['received']} messages, none lost"


@scenario("strangers")
def strangers(context):
    """Garbage is sent to every listening port of the ranks: the connections are dropped, the job is not affected."""
    with MpiJob(context.build, context.logs, "stream", 2) as job:
        job.wait_ready()
        btlctl(job, "switch", "sm", "tcp").expect(DONE)
        ports = wait_until("listening ports", lambda: kernel.listening_ports(set(job.rank_pids().values())), 10)
        chance = random.Random(2)
        for attempt in range(40):
            address, port = ports[attempt % len(ports)]
            host = {"0.0.0.0": "127.0.0.1", "*": "127.0.0.1", "::": "::1"}.get(address, address)
            with socket.create_connection((host, port), timeout=10) as stranger:
                try:
                    stranger.sendall(chance.randbytes(chance.randrange(1, 5000)))
                    stranger.shutdown(socket.SHUT_WR)
                    stranger.settimeout(30)
                    while stranger.recv(4096):
                        pass
                except (ConnectionResetError, BrokenPipeError):
                    pass  # dropped, as it should be
                except OSError as gone:  # dropped before its shutdown()
                    check(gone.errno == errno.ENOTCONN, f"a stranger met {gone}")
        btlctl(job, "switch", "tcp", "sm").expect(DONE)
        totals = job.finish(60)
    return f"40 strangers on {len(ports)} ports dropped; {totals['received']} messages"


@scenario("listens-where-the-job-is")
def listens_where_the_job_is(context):
    """A job on one node admits nobody from the network, and nobody at all without tcp; and it moves to tcp."""
    no_other = ("--mca", "btl", "self")  # otherwise Open MPI's own transport listens as well
    with MpiJob(context.build, context.logs, "stream", 2, mca=no_other) as job:
        job.wait_ready()
        pids = set(job.rank_pids().values())

        def check_listens(when, *wanted):
            found = {address for address, _ in kernel.listening_ports(pids)}
            check(found == set(wanted), f"{when} the ranks listen on {sorted(found)}")
        check_listens("at the start", "127.0.0.1")
        btlctl(job, "switch", "sm", "tcp").expect(DONE)
        check_listens("while tcp is used", "127.0.0.1")
        btlctl(job, "remove", "sm").expect(DONE)
        btlctl(job, "add", "sm").expect(DONE)
        btlctl(job, "remove", "tcp").expect(DONE)
        check_listens("without tcp")
        btlctl(job, "add", "tcp").expect(DONE)
        check_listens("with tcp again", "127.0.0.1")
        totals = job.finish(60)
    return f"{totals['received']} messages; nobody listened but on loopback"


@scenario("secret-by-pmix", NEEDS_ROOT)
def secret_by_pmix(context):
    """Two nodes under a launcher, such as Open MPI 5's, that puts no secret into the environment: rank 0 gives it by its
    server. Open MPI 4 then sets the variable itself, to numbers that everybody knows, so that is no secret."""
    without_seed = ("env", "-u", "OMPI_MCA_orte_precondition_transports")
    with job_on_two_nodes(context, "stream", 2, without_seed) as (job, (here, there)):
        for node, route in ((here, ("sm", "tcp")), (there, ("tcp", "sm"))):
            job.enter = node.enter()
            answer = btlctl(job, "switch", *route).expect(DONE)
            check(answer.json["members"] == 4, f"only {answer.json['members']} members took part")
        job.enter = here.enter()
        name = btlctl(job, "status").expect(DONE).json["job"]
        check(name.startswith("pmix-"), f"the job is named {name}: by a seed that was not to be believed")
        totals = job.finish(60)
    return f"{totals['received']} messages over two nodes"


@scenario("two-nodes", NEEDS_ROOT)
def two_nodes(context):
    """Two nodes, joined by a network: orders reach all members, and only pairs on one node use sm."""
    with job_on_two_nodes(context, "stream", 2) as (job, nodes):
        for i in range(max(4, context.switches // 10)):
            route = ("sm", "tcp") if i % 2 == 0 else ("tcp", "sm")
            answer = btlctl(job, "switch", *route).expect(DONE)
            check(answer.json["members"] == 4, f"only {answer.json['members']} members took part")
        job.enter = nodes[1].enter()  # and now from the other node
        btlctl(job, "remove", "sm").expect(DONE)
        btlctl(job, "add", "sm").expect(DONE)
        job.enter = nodes[0].enter()
        totals = job.finish(60)
    return f"{i + 1} switches over two nodes; {totals['received']} messages"
