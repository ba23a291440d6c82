# SPDX-License-Identifier: BSD-3-Clause
"""What a job did while its machines moved, as one self-contained HTML page: throughput over time, rungs and blackout shaded,
transports, phases.

A record is plain JSON; all times are unix seconds of one clock, the host's:
  title       text
  samples     [{"rank", "t", "seconds", "bytes", "gap_us"}]: what a rank received in the `seconds` before `t`
  phases      [{"name", "begin", "end", "well"}], in order
  rungs       [{"name", "begin", "end"}]: from the first member's order to the last one's answer
  blackout    {"what", "begin", "end"}: when nothing could be delivered, and why; or null
  transports  {pair: [before, during, after]}; a moment at which nobody looked is not shown
  proof       {"sent", "received", "lost", "repeated", "out_of_order", "corrupt"}
"""
import html
import math

from .recording import MOMENTS

WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 24, 58
STEP_SECONDS = 0.25
TICKS_MAX = 6
LABEL_WIDTH = 26
MIB = 1 << 20
TITLE = "A running MPI job, while its machines move"

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #6a737d; --paper: #ffffff; --line: #0b62c4; --band: #8a93a026;
  --other: #8a93a04d; --dark: #c0392bb0; --rung: #2e8b57; --bad: #c0392b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --faint: #9aa4af; --paper: #14171a; --line: #62a8ff; --band: #c0c8d01f; --other: #c0c8d040; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62em; margin: 2em auto; padding: 0 1em; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 12px; } svg .faint { fill: var(--faint); }
.grid { stroke: var(--faint); stroke-opacity: .3; } .rate { fill: none; stroke: var(--line); stroke-width: 1.6; }
.band { fill: var(--band); } .other { fill: var(--other); } .blackout { fill: var(--dark); } .rung { fill: var(--rung); }
table { border-collapse: collapse; margin: 1em 0; } th, td { padding: .2em .9em .2em 0; text-align: left; border-bottom: 1px solid #8884; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } .bad { color: var(--bad); font-weight: 600; }
"""


def rates(samples, begin, end):
    """MiB/s of all ranks together, one for each step from begin to end: a sample's bytes are spread over its seconds."""
    sums = [0.0] * max(1, math.ceil((end - begin) / STEP_SECONDS))
    for sample in samples:
        start = sample["t"] - max(sample["seconds"], 1e-6)
        first, last = (int((moment - begin) / STEP_SECONDS) for moment in (start, sample["t"]))
        for step in range(max(first, 0), min(last, len(sums) - 1) + 1):
            low = max(start, begin + step * STEP_SECONDS)
            high = min(sample["t"], begin + (step + 1) * STEP_SECONDS)
            sums[step] += sample["bytes"] * max(0.0, high - low) / (sample["t"] - start)
    return [each / STEP_SECONDS / MIB for each in sums]


def tick_size(span):
    """1, 2 or 5 times a power of ten, chosen so that there are at most TICKS_MAX."""
    if span <= 0:
        return 1
    power = 10 ** math.floor(math.log10(span / TICKS_MAX))
    return next(factor * power for factor in (1, 2, 5, 10) if span / (factor * power) <= TICKS_MAX)


class Chart:
    """Throughput over time as SVG, with events as bands beneath."""

    def __init__(self, record):
        self.record = record
        samples = record["samples"]
        self.begin = min(sample["t"] - sample["seconds"] for sample in samples)
        self.end = max(sample["t"] for sample in samples)
        self.rates = rates(samples, self.begin, self.end)
        self.top_rate = max(max(self.rates), 1e-3) * 1.05

    def x(self, moment):
        inside = min(max(moment, self.begin), self.end)
        return LEFT + (inside - self.begin) / (self.end - self.begin) * (WIDTH - LEFT - RIGHT)

    def y(self, rate):
        return HEIGHT - BOTTOM - rate / self.top_rate * (HEIGHT - TOP - BOTTOM)

    def band(self, kind, begin, end, text, top=TOP, height=HEIGHT - TOP - BOTTOM):
        left, width = self.x(begin), max(self.x(end) - self.x(begin), 1.0)
        return (f'<rect class="{kind}" x="{left:.1f}" y="{top}" width="{width:.1f}" height="{height}">'
                f"<title>{html.escape(text)}</title></rect>")

    def bands(self):
        parts = []
        for number, phase in enumerate(self.record["phases"], 1):
            text = f"{number}. {phase['name']}, {milliseconds(phase)} ms"
            parts.append(self.band("band" if number % 2 else "band other", phase["begin"], phase["end"], text))
        for rung in self.record["rungs"]:
            parts.append(self.band("rung", rung["begin"], rung["end"], f"{rung['name']}, {milliseconds(rung)} ms", HEIGHT - BOTTOM + 4, 8))
        still = self.record["blackout"]
        if still:
            parts.append(self.band("blackout", still["begin"], still["end"], f"{still['what']}, {milliseconds(still)} ms"))
        return parts

    def numbers(self):
        """Numbers of the phases, above their beginnings; phases too close to each other share a label."""
        groups = []  # [x, first, last]
        for number, phase in enumerate(self.record["phases"], 1):
            x = self.x(phase["begin"])
            if groups and x - groups[-1][0] < LABEL_WIDTH:
                groups[-1][2] = number
            else:
                groups.append([x, number, number])
        return [f'<text x="{x:.1f}" y="{TOP - 6}">{first if first == last else f"{first}-{last}"}</text>' for x, first, last in groups]

    def axes(self):
        parts = []
        size = tick_size(self.top_rate)
        for number in range(int(self.top_rate / size) + 1):
            y = self.y(number * size)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                         f'<text class="faint" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number * size:g}</text>')
        size = tick_size(self.end - self.begin)
        for number in range(int((self.end - self.begin) / size) + 1):
            parts.append(f'<text class="faint" x="{self.x(self.begin + number * size):.1f}" y="{HEIGHT - BOTTOM + 28}" '
                         f'text-anchor="middle">{number * size:g} s</text>')
        return parts

    def line(self):
        points = (f"{self.x(self.begin + (step + 0.5) * STEP_SECONDS):.1f},{self.y(rate):.1f}" for step, rate in enumerate(self.rates))
        return f'<polyline class="rate" points="{" ".join(points)}"/>'

    def svg(self):
        still = self.record["blackout"]
        legend = (f'<text x="{LEFT}" y="{HEIGHT - 8}">MiB/s received by all ranks. Numbers: phases of the table. Green: rungs of a '
                  f"ladder.{html.escape(' Red: ' + still['what'] + '.') if still else ''}</text>")
        return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="throughput over time">'
                + "".join([*self.bands(), *self.numbers(), *self.axes(), self.line(), legend]) + "</svg>")


def milliseconds(span):
    return f"{1000 * (span['end'] - span['begin']):.0f}"


def table(heads, rows):
    """Rows of texts; a text that is a number stands to the right."""
    def cell(text):
        kind = ' class="number"' if text.replace(".", "", 1).replace(",", "").isdigit() else ""
        return f"<td{kind}>{html.escape(text)}</td>"
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows) + "</table>"


def verdict(proof):
    """The proof computed by the MPI program itself."""
    faults = {name: proof[name] for name in ("lost", "repeated", "out_of_order", "corrupt")}
    text = (f"{proof['sent']:,} messages sent, {proof['received']:,} received; "
            + ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in faults.items()))
    return f'<p{" class=bad" if any(faults.values()) or proof["sent"] != proof["received"] else ""}>{html.escape(text)}.</p>'


def longest_gap_ms(samples):
    return max(sample["gap_us"] for sample in samples) / 1000


def section(record):
    """One chart, with its tables."""
    phases = [[str(number), phase["name"], milliseconds(phase), "" if phase["well"] else "failed"]
              for number, phase in enumerate(record["phases"], 1)]
    still = record["blackout"]
    if still:
        phases.append(["", f"meanwhile {still['what']}", milliseconds(still), ""])
    rungs = [[rung["name"], milliseconds(rung)] for rung in record["rungs"]]
    each = sorted(record["transports"].items())
    shown = [number for number in range(len(MOMENTS)) if any(three[number] != "-" for _, three in each)]
    transports = [[pair, *(three[number] for number in shown)] for pair, three in each]
    return "".join([
        f"<h2>{html.escape(record['title'])}</h2>", verdict(record["proof"]),
        f"<p>Longest gap between two deliveries at any rank, by its own clock: {longest_gap_ms(record['samples']):,.1f} ms.</p>",
        Chart(record).svg(),
        "<h3>Phases</h3>", table(("", "phase", "ms", ""), phases),
        *(["<h3>Rungs</h3>", table(("rung", "ms"), rungs)] if rungs else []),
        "<h3>Transports</h3>", table(("pair", *(MOMENTS[number] for number in shown)), transports)])


def page(records):
    return "".join([f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{TITLE}</title><style>{STYLE}</style><h1>{TITLE}</h1>',
                    *map(section, records), "</html>\n"])
