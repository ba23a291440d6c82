# SPDX-License-Identifier: BSD-3-Clause
"""The control experiment: the same program, Open MPI and card, but libfabric's own verbs provider instead of livebtl."""
import time

from scripts.vmlab.hardware import RDMA
from tests.harness.job import OVER_OFI
from tests.harness.scenario import scenario
from tests.harness.waiting import check

from .job import GuestsJob
from .verbs import VerbsJob, add_verbs

STANDS_STILL_SECONDS = 30  # on a quiet machine; livebtl's job needs less than one
GOES_ON_LINES = 8          # printed by each rank after the card has gone; one or two may have been under way


class StockJob(GuestsJob):
    """mtl ofi over verbs;ofi_rxm. Its usual queues are longer than Soft-RoCE's."""
    mpi = (*OVER_OFI, "verbs;ofi_rxm")

    def __init__(self, lab, logs):
        super().__init__(lab, logs)
        self.environment = {"FI_UNIVERSE_SIZE": str(self.ranks), "FI_OFI_RXM_MSG_TX_SIZE": "64", "FI_OFI_RXM_MSG_RX_SIZE": "64"}

    def check_on_the_device(self):
        for guest in self.lab.guests:
            check("e2e_stream" in guest.holders(), f"{guest.name}: no rank has the device open")


def _pull(guest):
    """device_del, without waiting: the holder of the device may never close it."""
    guest.query("device_del", id=RDMA)


def _come_of(job):
    """What became of the job: None while every rank delivers messages."""
    patience = STANDS_STILL_SECONDS * job.lab.pace
    before, since = job.progress(), time.monotonic()
    while time.monotonic() < since + patience:
        if job.ended():
            return f"it ended with code {job.code}"
        now = job.progress()
        if all(now[rank] > before.get(rank, 0) + GOES_ON_LINES for rank in now):
            return None
        time.sleep(0.5)
    still = [rank for rank, lines in sorted(now.items()) if lines <= before.get(rank, 0) + GOES_ON_LINES]
    return f"ranks {still} stood still for {patience:.0f} s"


@scenario("stock-job-dies")
def a_stock_job_dies(context):
    """The card vanishes under a job of stock Open MPI over libfabric's verbs: it aborts or stands still. livebtl's goes on."""
    with context.lab(2) as lab:
        with StockJob(lab, context.logs) as job:
            job.wait_ready()
            job.check_on_the_device()
            job.wait_progress()
            undisturbed = job.finish()
        with VerbsJob(lab, context) as job:
            job.wait_ready()
            add_verbs(job)
            lab.guests[0].unplug(RDMA)
            job.wait_across("tcp")
            job.wait_progress()
            ours = job.finish()
        lab.guests[0].plug(RDMA)
        with StockJob(lab, context.logs) as job:
            job.wait_ready()
            job.check_on_the_device()
            job.wait_progress()
            _pull(lab.guests[0])
            came = _come_of(job)
            check(came, "the stock job goes on without its card: there is nothing to show")
            said = job.tail()
    return (f"undisturbed {undisturbed['received']} messages; without its card: {came} ({said[:200]}); livebtl: "
            f"{ours['received']} messages, lost 0, repeated 0, out of order 0")
