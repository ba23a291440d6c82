# SPDX-License-Identifier: BSD-3-Clause
"""btlctl vm is killed in every phase that it has: the lists in tests/vm/phases.py match the code."""
import os
import re
import unittest

from tests.harness.commands import ROOT
from tests.harness.waiting import Failed
from tests.vm import phases


def read(file):
    with open(os.path.join(ROOT, "hypervisor", file), encoding="utf-8") as source:
        return source.read()


def named():
    """The names that name_of() gives the phases, without "end"."""
    table, = re.findall(r"kNames\[\] = \{(.*?)\};", read("plan/sequence.cc"), re.DOTALL)
    names = re.findall(r'"(\w+)"', table)
    assert names[-1] == "end", names
    return names[:-1]


def reached_in(*files):
    """The names of the phases that the state machine there knows."""
    known = {step for file in files for step in re.findall(r"\bStep::k(\w+)", read(file))}
    return {re.sub(r"(?<=.)(?=[A-Z])", "_", name).lower() for name in known - {"End"}}


class Phases(unittest.TestCase):
    def test_each_command_is_killed_in_each(self):
        migrating = reached_in("migrate/migrate_machine.cc", "migrate/migrate_back.cc")
        taking, restoring = reached_in("snapshot/snapshot_machine.cc"), reached_in("restore/restore_machine.cc")
        self.assertCountEqual(phases.THERE + phases.BACK, migrating)
        self.assertCountEqual(phases.SNAPSHOT, taking)
        self.assertCountEqual(phases.RESTORE + phases.RESTORE_REFUSED, restoring)
        self.assertCountEqual(migrating | taking | restoring, named())

    def test_short_is_a_part(self):
        for short, whole in ((phases.SHORT_THERE, phases.THERE), (phases.SHORT_BACK, phases.BACK),
                             (phases.SHORT_SNAPSHOT, phases.SNAPSHOT), (phases.SHORT_RESTORE, phases.RESTORE)):
            self.assertEqual([phase for phase in whole if phase in short], list(short))

    def test_a_phase_that_was_missed_is_tried_again(self):
        tried = []

        def missed_once(phase):
            tried.append(phase)
            return tried.count(phase) == 2

        self.assertEqual(phases.killed_in_each(("look", "load"), missed_once), ["look", "load"])
        self.assertEqual(tried, ["look", "look", "load", "load"])
        with self.assertRaises(Failed):
            phases.killed_in_each(("look", "load"), lambda phase: phase == "look")


if __name__ == "__main__":
    unittest.main()
