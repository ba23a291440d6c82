# SPDX-License-Identifier: BSD-3-Clause
"""livebtl-watchd with played sources and a played btlctl: an event ten seconds ahead, repeated, withdrawn; a source
that is garbled, silent, failing or gone. The job lets go before the event, or is left alone and the log says why."""
import json
import os
import signal
import time
import unittest

from tests.harness.notices import MetadataPlayer, SlurmPlayer, http_time, iso_time
from tests.harness.waiting import wait_until

from .scene import PATIENCE, Scene


class Sources(unittest.TestCase):
    def lives_through(self, scene, begin, end, event, faults, undo, settled="released"):
        """An event that begins, a source that fails in each way while it lasts, an event that ends."""
        scene.wait_log("watches")
        deadline = time.time() + 10
        begin()
        scene.wait_for("the job to be prepared", lambda: scene.calls("prepare"))
        self.assertLess(scene.calls("prepare")[0][0], deadline)
        self.assertIn("--user root --json --timeout", scene.calls("prepare")[0][1])
        self.assertIn("--job j1 checkpoint prepare --scope node:n1", scene.calls("prepare")[0][1])
        scene.wait_state(event, settled)
        for count, fault in enumerate(faults, 1):
            fault()
            scene.wait_log("no notices can be read, 1 times now", count)
            self.assertEqual(scene.calls("return"), [], f"what cannot be read was taken for the end: {scene.read('log')}")
            undo()
            scene.wait_log("answers again", count)
        end()
        scene.wait_state(event, "returned")
        self.assertEqual(len(scene.calls("prepare")), 1, "a notice that is repeated was prepared for again")
        self.assertEqual(len(scene.calls("return")), 1)
        self.assertEqual(scene.stop(), 0)

    def metadata_faults(self, player):
        return [lambda fault=fault: player.set_fault(fault) for fault in ("garbled", "failing", "cut")] + [player.go]

    def metadata_undo(self, player):
        def undo():
            player.set_fault(None)
            try:
                player.come()  # in case it is gone
            except OSError:
                pass
        return undo

    def test_azure(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\n") as scene:
            def begin():
                player.azure = [player.azure_event("other", 5, resources=("vm_1",)), player.azure_event("freeze", 10)]
            scene.start()
            self.lives_through(scene, begin, lambda: setattr(player, "azure", []), "freeze",
                               self.metadata_faults(player), self.metadata_undo(player), "acknowledged")
            self.assertEqual(player.started, ["freeze"], "acknowledged not once, or something else")
            self.assertEqual(scene.states("other"), [])
            told = [at for at, (method, _) in enumerate(player.asked) if method == "POST"]
            self.assertEqual(len(told), 1)

    def test_gce(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=gce\nGCE_URL={player.url}\n") as scene:
            scene.settings[0] = scene.settings[0].replace("LEAD_S=5", "LEAD_S=60")
            scene.start()
            self.lives_through(scene, lambda: setattr(player, "gce", "MIGRATE_ON_HOST_MAINTENANCE"),
                               lambda: setattr(player, "gce", "NONE"), "maintenance-event",
                               self.metadata_faults(player), self.metadata_undo(player))

    def test_ec2(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=ec2\nEC2_URL={player.url}\n") as scene:
            def begin():
                player.ec2_spot = {"action": "hibernate", "time": iso_time(10)}
            scene.start()
            self.lives_through(scene, begin, lambda: setattr(player, "ec2_spot", None), "spot-instance-action",
                               self.metadata_faults(player), self.metadata_undo(player))
            self.assertEqual(sum(method == "PUT" for method, _ in player.asked), 1, "a token was asked for each time")

    def test_ec2_event_that_is_canceled_in_time(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=ec2\nEC2_URL={player.url}\n") as scene:
            event = {"NotBefore": http_time(3600), "Code": "system-maintenance", "EventId": "i-1", "State": "active"}
            player.ec2 = [event]
            scene.start()
            scene.wait_state("i-1", "seen")
            event["State"] = "canceled"
            scene.wait_state("i-1", "returned")
            self.assertEqual(scene.calls(), [])

    def test_slurm(self):
        with Scene("SOURCES=slurm\n") as scene:
            slurm = SlurmPlayer(scene.folder)
            scene.settings.append(f"SLURM_COMMAND={slurm.program}\n")
            scene.start()
            faults = [lambda: slurm.print("slurm_load_node error: Unable to contact slurm controller\n"),
                      lambda: slurm.print("NodeName=n1 garb"), lambda: os.rename(slurm.program, slurm.program + ".gone")]

            def undo():
                slurm.say("MIXED+DRAIN")
                if os.path.exists(slurm.program + ".gone"):
                    os.rename(slurm.program + ".gone", slurm.program)
            self.lives_through(scene, lambda: slurm.say("MIXED+DRAIN"), lambda: slurm.say("MIXED"), "drain-n1", faults, undo)

    def test_file(self):
        with Scene("SOURCES=file\n") as scene:
            scene.settings.append(f"FILE={scene.path('notices')}\n")
            text = json.dumps({"events": [{"event": "power", "kind": "reboot", "start": iso_time(10)}]})
            scene.start()
            self.lives_through(scene, lambda: scene.write("notices", text), lambda: os.remove(scene.path("notices")), "power",
                               [lambda: scene.write("notices", text[:-3]), lambda: os.chmod(scene.path("notices"), 0o666)],
                               lambda: scene.write("notices", text))
            self.assertEqual(json.loads(scene.read("notices.state"))["events"][0]["state"], "returned")

    def test_silent_server_is_given_up_and_heard_again(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=gce\nGCE_URL={player.url}\n") as scene:
            scene.settings[0] = scene.settings[0].replace("LEAD_S=5", "LEAD_S=60")
            player.set_fault("silent")
            player.gce = "MIGRATE_ON_HOST_MAINTENANCE"
            scene.start()
            scene.wait_log("no notices can be read")
            self.assertEqual(scene.calls(), [])
            player.set_fault(None)
            scene.wait_state("maintenance-event", "released")
            player.set_fault("silent")
            wait_until("a look that hangs", lambda: player.asked[-1:] and player.fault == "silent", PATIENCE)
            self.assertEqual(scene.stop(), 0)  # and does so before the server answers

    def test_what_cannot_be_released_is_missed_and_said(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\n") as scene:
            scene.answer("prepare", 7, ', "other_holders": ["a process 77"]')
            player.azure = [player.azure_event("freeze", 4)]
            scene.start()
            scene.wait_state("freeze", "missed")
            self.assertEqual(player.started, [], "an event was let begin that nobody is ready for")
            scene.wait_log("it begins, and not all is released: job j1: code 7: played; held by a process 77")
            player.azure = []
            scene.wait_state("freeze", "returned")

    def test_no_job_here(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\n") as scene:
            scene.write("jobs", '{"jobs": []}')
            player.azure = [player.azure_event("freeze", 600)]
            scene.start()
            scene.wait_for("the acknowledgement", lambda: player.started == ["freeze"])
            player.azure = []
            scene.wait_state("freeze", "returned")
            self.assertEqual(scene.calls(), [])

    def test_a_gateway_that_does_not_know_is_not_asked_twice(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\n") as scene:
            player.start_status = 504
            player.azure = [player.azure_event("freeze", 600)]
            scene.start()
            scene.wait_state("freeze", "acknowledged")
            scene.wait_log("is answered with HTTP status 504")
            player.azure = []
            scene.wait_state("freeze", "returned")
            self.assertEqual(player.started, ["freeze"])

    def test_killed_in_the_middle(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\n") as scene:
            player.azure = [player.azure_event("freeze", 600)]
            scene.start()
            scene.wait_state("freeze", "acknowledged")
            scene.stop(signal.SIGKILL)
            scene.start()
            scene.wait_log("goes on with events")
            scene.wait_log("watches", 2)
            player.azure = []
            scene.wait_state("freeze", "returned")
            self.assertEqual((len(scene.calls("prepare")), len(scene.calls("return"))), (1, 1))
            self.assertEqual(player.started, ["freeze"])

    def test_gone_while_it_was_away(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\n") as scene:
            player.azure = [player.azure_event("freeze", 600)]
            scene.start()
            scene.wait_state("freeze", "acknowledged")
            scene.stop(signal.SIGKILL)
            player.azure = []
            scene.start()
            scene.wait_state("freeze", "returned")
            self.assertEqual(len(scene.calls("return")), 1)

    def test_returns_when_the_job_can(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\n") as scene:
            scene.answer("return", 4)
            player.azure = [player.azure_event("freeze", 600)]
            scene.start()
            scene.wait_state("freeze", "acknowledged")
            player.azure = []
            scene.wait_for("a second try", lambda: len(scene.calls("return")) > 1)
            scene.answer("return", 0)
            scene.wait_state("freeze", "returned")

    def test_dry_run_and_once(self):
        with MetadataPlayer() as player, Scene(f"SOURCES=azure\nAZURE_URL={player.url}\n") as scene:
            player.azure = [player.azure_event("freeze", 600)]
            scene.start("--dry-run", "--once")
            self.assertEqual(scene.process.wait(PATIENCE), 0)
            self.assertEqual([json.loads(line)["state"] for line in scene.read("out").splitlines()],
                             ["seen", "preparing", "released", "acknowledging", "acknowledged"])
            self.assertEqual((scene.calls(), player.started, scene.read("journal")), ([], [], ""))
            for expected in ("acknowledged", "acknowledged", "returned", "returned"):
                if expected == "returned":
                    player.azure = []
                scene.start("--once")
                self.assertEqual(scene.process.wait(PATIENCE), 0)
                self.assertEqual(scene.states("freeze")[-1], expected)
            self.assertEqual((len(scene.calls("prepare")), len(scene.calls("return")), player.started), (1, 1, ["freeze"]))
            player.go()
            scene.start("--once")
            self.assertEqual(scene.process.wait(PATIENCE), 5)
            player.come()

    def test_dry_run_beside_the_real_one_tells_nobody(self):
        with Scene("SOURCES=file\n") as scene:
            scene.settings.append(f"FILE={scene.path('notices')}\n")
            scene.write("notices", json.dumps({"events": [{"event": "power", "kind": "reboot"}]}))
            scene.write("notices.state", "of the one that runs")
            scene.start("--dry-run", "--once")
            self.assertEqual(scene.process.wait(PATIENCE), 0)
            self.assertEqual([json.loads(line)["state"] for line in scene.read("out").splitlines()], ["seen", "preparing", "released"])
            self.assertEqual(scene.read("notices.state"), "of the one that runs")

    def test_wrong_settings_are_named(self):
        for text, code, said in (("SOURCES=none\n", 1, "SOURCES takes"), ("", 1, "names no SOURCES"), ("SOURCES=file\nX=1\n", 1, "setting X")):
            with Scene(text) as scene:
                scene.start()
                self.assertEqual(scene.process.wait(PATIENCE), code)
                self.assertIn(said, scene.read("log"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
