# SPDX-License-Identifier: BSD-3-Clause
"""A machine that exists twice: in its old place, and where its set was restored."""
import dataclasses

from tests.harness.scenario import scenario, slow
from tests.harness.waiting import check, wait_until

from .job import OUTPUT, delivered
from .sets import Sets, begin
from .verbs import VerbsJob


@scenario("old-machine-wakes", slow("job-is-restored"))
def old_machine_wakes(context):
    """A machine that was only paused while its job was restored elsewhere resumes, with the same addresses as its copy: its
    processes are fenced out, and the restored job goes on."""
    with context.lab(2) as lab, VerbsJob(lab, context) as job, Sets(job) as sets:
        begin(lab, job)
        sets.take("monday")
        old = dataclasses.replace(lab.guests[0])
        old.pause()
        try:
            sets.kill_machines(spared=old.process)
            sets.put_back("monday")
            old.go_on()
            said = job.timed("fenced out", lambda: _fenced_out(job, old))
            before = delivered(old)
            sets.goes_on()
            check(delivered(old) == before, "messages were delivered to processes that are fenced out")
        finally:
            old.stop()
        sets.goes_on()
        totals = job.finish()
    return f"{said}; {totals['received']} messages of the restored job, lost 0, repeated 0, out of order 0; {job.phases()}"


def _fenced_out(job, old):
    """Waits until all ranks of the old machine are fenced out. Returns what the first of them logged."""
    def fenced():
        lines = old.output(f"grep -h 'fenced out: a newer incarnation' {OUTPUT}/*/rank.*/stderr; true").splitlines()
        return lines if len(lines) == job.per_guest else None
    said = wait_until("the processes of the old machine to be fenced out", fenced, 120 * job.lab.pace, interval=0.5)
    shown = old.output("btlctl status")
    check(shown.count("fenced out: ") == job.per_guest, f"btlctl status in the old machine: {shown}")
    return said[0]
