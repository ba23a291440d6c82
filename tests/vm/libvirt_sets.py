# SPDX-License-Identifier: BSD-3-Clause
"""btlctl vm snapshot and vm restore of domains, with two libvirt daemons: the job goes on from the set, on the hosts
where it was saved, and on each other's."""
from scripts.vmlab import libvirt
from scripts.vmlab.libvirt import BLOCKING, CARD
from tests.harness.control import INCONSISTENT
from tests.harness.scenario import NEEDS_ROOT, scenario
from tests.harness.waiting import check

from .libvirt import begin, is_there
from .sets import Sets, finished, mix, phases_in
from .verbs import VerbsJob


class DomainSets(Sets):
    cards = (CARD, BLOCKING)

    @staticmethod
    def _machine(guest):
        return f"{guest.name},domain={guest.name},connect={guest.host.uri}"

    def goes_on(self):
        for guest in self.lab.guests:
            is_there(self.job, guest, guest.host)

    def destroy(self):
        for guest in self.lab.guests:
            guest.host.virsh("destroy", guest.name)

    def change_hosts(self):
        for guest in self.lab.guests:
            guest.host = self.lab.other(guest.host)


@scenario("libvirt-snapshot", NEEDS_ROOT)
def libvirt_snapshot(context):
    """Both domains of a job on verbs are saved as a set and destroyed; a mixture of two sets is refused, and the set is
    restored, the second time with the hosts exchanged. Nothing is lost."""
    with libvirt.new(context.build) as lab, VerbsJob(lab, context) as job, DomainSets(job) as sets:
        begin(lab, job)
        sets.take("monday")
        taken = sets.take("tuesday")
        mix(sets, "monday", "tuesday")
        sets.destroy()
        code, document = finished(sets.restore("mixed"))
        check(code == INCONSISTENT, f"a set that does not fit together: code {code}: {document}")
        for host in lab.hosts:
            check(not host.virsh("list", "--name", "--state-running").split(), f"a domain runs at {host.name}")
        sets.destroy()
        put_back = sets.put_back("tuesday")
        sets.destroy()
        sets.change_hosts()
        sets.put_back("tuesday")
        totals = job.finish()
    return (f"saved twice, destroyed three times, restored twice; mixed: {document['text']}; {totals['received']} messages, lost 0, "
            f"repeated 0, out of order 0; snapshot: {phases_in(taken)}; restore: {phases_in(put_back)}")
