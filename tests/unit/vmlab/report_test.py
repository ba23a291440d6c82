# SPDX-License-Identifier: BSD-3-Clause
"""What is recorded about a migration, and what its page shows, from made-up data."""
import re
import unittest
import xml.etree.ElementTree

from scripts.vmlab import recording, report


def sample(t, seconds=0.25, mebibytes=1.0, rank=0, gap_us=500):
    return {"rank": rank, "t": t, "seconds": seconds, "bytes": int(mebibytes * report.MIB), "gap_us": gap_us}


def record(**changes):
    made = {"title": "a move", "samples": [sample(1000 + 0.25 * number) for number in range(1, 81)],
            "phases": [{"name": "prepare", "begin": 1002, "end": 1003.5, "well": True},
                       {"name": "migrate", "begin": 1004, "end": 1010, "well": True}],
            "rungs": [{"name": "joint", "begin": 1002.5, "end": 1002.75}], "blackout": {"what": "the guest stood still", "begin": 1009.5, "end": 1009.75},
            "transports": {"rank 0 - rank 2": ["verbs", "tcp", "verbs"]},
            "proof": {"sent": 1234, "received": 1234, "lost": 0, "repeated": 0, "out_of_order": 0, "corrupt": 0}}
    return made | changes


class Rates(unittest.TestCase):
    def test_every_byte_is_counted_once(self):
        samples = [sample(1000.1 + 0.37 * number, 0.37, 3, rank) for number in range(1, 20) for rank in range(3)]
        rates = report.rates(samples, 1000, 1008)
        self.assertAlmostEqual(sum(rates) * report.STEP_SECONDS, 19 * 3 * 3, places=6)

    def test_what_is_received_late_is_spread_over_its_silence(self):
        rates = report.rates([sample(1002, 2.0, 8)], 1000, 1004)
        self.assertEqual([round(rate, 6) for rate in rates], 8 * [4.0] + 8 * [0.0])

    def test_outside_the_window_is_left_out(self):
        self.assertEqual(report.rates([sample(900), sample(2000)], 1000, 1001), [0.0] * 4)


class Ticks(unittest.TestCase):
    def test_few_and_round(self):
        for span in (0.003, 1, 7, 59, 60, 61, 999, 123456):
            size = report.tick_size(span)
            self.assertLessEqual(span / size, report.TICKS_MAX)
            self.assertGreater(span / size, report.TICKS_MAX / 3)
            self.assertIn(f"{size:e}"[0], "125")


class Page(unittest.TestCase):
    def svg(self, made):
        text = re.search("<svg.*</svg>", report.page([made]), re.DOTALL).group(0)
        return xml.etree.ElementTree.fromstring(text)

    def rectangles(self, made, kind):
        return [each for each in self.svg(made).iter("rect") if each.get("class").split()[0] == kind]

    def test_stands_alone(self):
        text = report.page([record()])
        self.assertNotIn("http", text)
        self.assertNotIn("src=", text)

    def test_bands_lie_where_things_happened(self):
        phases = self.rectangles(record(), "band")
        (dark,) = self.rectangles(record(), "blackout")
        (rung,) = self.rectangles(record(), "rung")
        left, width = float(phases[1].get("x")), float(phases[1].get("width"))
        self.assertTrue(left < float(dark.get("x")) < left + width)
        self.assertTrue(float(phases[0].get("x")) < float(rung.get("x")) < left)
        scale = (report.WIDTH - report.LEFT - report.RIGHT) / 20  # the page shows 20 s
        self.assertAlmostEqual(width, 6 * scale, delta=0.2)
        self.assertAlmostEqual(float(dark.get("width")), 0.25 * scale, delta=0.2)

    def test_phases_too_short_for_a_number_each_share_one(self):
        short = [{"name": "unplug", "begin": 1010 + step / 100, "end": 1010 + (step + 1) / 100, "well": True} for step in range(5)]
        made = record()
        numbers = [each.text for each in self.svg(record(phases=made["phases"] + short)).iter("text") if each.get("class") is None]
        self.assertEqual(numbers[:3], ["1", "2", "3-7"])

    def test_without_blackout(self):
        self.assertEqual(self.rectangles(record(blackout=None), "blackout"), [])

    def test_tables(self):
        text = report.page([record()])
        for cells in (("1", "prepare", "1500", ""), ("", "meanwhile the guest stood still", "250", ""), ("joint", "250"),
                      ("rank 0 - rank 2", "verbs", "tcp", "verbs")):
            row = "".join(f"<td>{cell}</td>" for cell in cells)
            self.assertIn(f"<tr>{row}</tr>", text.replace(' class="number"', ""))

    def test_all_that_was_recorded_is_on_one_page(self):
        text = report.page([record(title="first"), record(title="second", rungs=[])])
        self.assertEqual(re.findall("<h2>(.*?)</h2>", text), ["first", "second"])
        self.assertEqual((text.count("<svg"), text.count("<h3>Rungs</h3>")), (2, 1))

    def test_a_fault_is_marked(self):
        proof = record()["proof"]
        self.assertNotIn("class=bad", report.page([record()]))
        for changed in ({"lost": 1}, {"received": 1233}):
            self.assertIn("class=bad", report.page([record(proof=proof | changed)]))

    def test_nothing_is_taken_for_markup(self):
        evil = "<script>alert('x')</script>"
        made = record(title=evil, transports={evil: [evil] * 3}, rungs=[{"name": evil, "begin": 1002, "end": 1003}],
                      phases=[{"name": evil, "begin": 1002, "end": 1003, "well": False}])
        self.assertNotIn("<script", report.page([made]))


RUNGS = ("joint", "newtx", "new")


def event(at_ms, rung, reached=True, verb="checkpoint", order="prepare"):
    return {"kind": "standing", "unix_ms": at_ms, "rung": rung, "reached": reached, "verb": verb, "arguments": [order, "verbs"]}


class Recording(unittest.TestCase):
    DOCUMENT = {"migration": {"downtime-ms": 120},
                "phases": [{"phase": "unplug", "card": "hca0", "milliseconds": 500.0, "well": True},
                           {"phase": "migrate", "milliseconds": 2500.0, "well": True},
                           {"phase": "plug_there", "card": "hca0", "milliseconds": 100.0, "well": False}]}

    def test_rungs_last_until_the_last_member_is_there(self):
        events = [event(500, "new", verb="add"), event(1000, "joint", False), event(1010, "joint", False), event(1200, "joint"),
                  event(1300, "joint"), event(1400, "newtx"), {"kind": "joined", "unix_ms": 1450}, event(1500, "new"),
                  *(event(9000 + at, rung, order="return") for at, rung in enumerate(RUNGS))]
        spans = recording.rungs(events, 5)
        self.assertEqual([span["name"] for span in spans], [f"{order}: {rung}" for order in ("prepare", "return") for rung in RUNGS])
        self.assertEqual((spans[0]["begin"], spans[0]["end"]), (6.0, 6.3))

    def test_a_member_that_tells_late_belongs_to_its_rung(self):
        spans = recording.rungs([event(1000, "joint"), event(1100, "newtx"), event(1101, "joint"), event(1200, "newtx")], 0)
        self.assertEqual([(span["name"], span["end"]) for span in spans], [("prepare: joint", 1.101), ("prepare: newtx", 1.2)])

    def test_phases_follow_each_other(self):
        spans = recording.phases(1000, self.DOCUMENT)
        self.assertEqual([(span["name"], span["begin"], span["end"]) for span in spans],
                         [("unplug hca0", 1000, 1000.5), ("migrate", 1000.5, 1003), ("plug there hca0", 1003, 1003.1)])
        self.assertEqual([span["well"] for span in spans], [True, True, False])

    def test_nothing_runs_between_dump_and_restore(self):
        spans = [span for at, of, name in ((1000, "dump", "save"), (1010, "restore", "load"))
                 for span in recording.phases(at, {"phases": [{"phase": name, "milliseconds": 2000.0, "well": True}]}, of)]
        self.assertEqual([span["name"] for span in spans], ["dump save", "restore load"])
        still = recording.not_running(spans)
        self.assertEqual((still["begin"], still["end"]), (1002, 1012))

    def test_the_guest_stands_still_until_the_migration_is_done(self):
        spans = recording.phases(1000, self.DOCUMENT)
        still = recording.blackout(spans, self.DOCUMENT)
        self.assertAlmostEqual(still["begin"], 1002.88)
        self.assertEqual(still["end"], 1003)
        self.assertIsNone(recording.blackout(spans, {"migration": {}}))
        self.assertIsNone(recording.blackout([], self.DOCUMENT))


if __name__ == "__main__":
    unittest.main()
