/* SPDX-License-Identifier: BSD-3-Clause */
/* busy.pml -- one direction of a pair, over paths that answer "busy" at will, while the pair moves from one path to the
 * other and back (docs/ARCHITECTURE.md, "A message"; docs/SWITCH.md, "The marker").
 *
 * What stands for what: send() is Sender::send_by_endpoint() and send_later(): a message goes at once if nothing waits,
 *   and is queued otherwise; flush() is flush_path_notes() and flush_queue(); a message gets its number in
 *   post_ordered(), once the path has taken it. move() is Elector::move_send_path(), and emptied() is Path::emptied(),
 *   by Marker (core/path/marker.h). A peer that has something to do but is not marked dirty (mark_dirty()) is not
 *   visited again.
 * Shown: every message arrives once, in the order in which the program sent them; a path is closed only when nothing is
 *   in flight on it; and nothing waits for ever: when nothing more can happen, all has arrived, and the path that was
 *   left is proved empty.
 * Mutants: -DPASSES (a message goes at once although others wait), -DCOUNTS_BUSY (a message that was not taken counts
 *   as posted), -DMARKER_COUNTS_BUSY (a marker that was not taken counts as posted), -DMARKER_FIRST (a path counts as
 *   empty when its marker is posted), -DNOT_DIRTY (what found a path busy is not visited again), -DLATE_MARKER (an
 *   acknowledgement of an earlier marker proves the path empty).
 * Not modelled: credit, windows and replay (unit and simulator), loss of a path.
 * Run: tests/model/run_busy.sh
 */
#ifndef MESSAGES
#define MESSAGES 6
#endif
#ifndef MOVES
#define MOVES 4
#endif
#define ROOM 2          /* a path that takes no more is busy */

mtype = { message, marker };
mtype = { none, due, sent, acked };

chan path[2] = [ROOM] of { mtype, byte, byte };   /* what, number or ordinal, content */
chan acks[2] = [4] of { byte };                    /* of markers: the ordinal */

byte program = 0;      /* messages that the program has sent */
byte queue[MESSAGES + 1];
byte waiting = 0;      /* how many of them are in the queue */
byte next_seq = 1;
byte send_path = 0;
mtype ours[2];         /* the marker's state, per path */
byte ordinal[2];
bit dirty = 0;
byte moves = 0;
bit busy;              /* the answer of a post, drawn anew each time */
byte taken = 0;        /* messages that the peer's program has received */

#define LEFT(p) (ours[p] != none)

inline answer(p) {
  if
  :: nfull(path[p]) -> busy = 0
  :: busy = 1          /* even if there is room: busy is for the path to say */
  fi
}
/* Posts a message; busy: it was not taken. */
inline post_message(content) {
  answer(send_path);
  if
  :: !busy -> path[send_path]!message(next_seq, content); next_seq++
  :: else
  fi
}
inline mark_dirty() { dirty = 1 }
inline note_busy() {
#ifndef NOT_DIRTY
  mark_dirty()
#else
  skip
#endif
}

proctype Sender() {
  byte i, p;
  do
  :: atomic { program < MESSAGES ->                 /* send() */
       program++;
#ifdef PASSES
       if
       :: true ->
#else
       if
       :: waiting == 0 ->
#endif
          post_message(program);
          if
#ifndef COUNTS_BUSY
          :: busy -> queue[waiting] = program; waiting++; mark_dirty()
#endif
          :: else -> skip
          fi
#ifndef PASSES
       :: else -> queue[waiting] = program; waiting++; mark_dirty()
#endif
       fi; busy = 0 }
  :: atomic { dirty ->                              /* flush() */
       dirty = 0; p = 0;
       do
       :: p < 2 && ours[p] == due ->
          answer(p);
          if
          :: !busy -> ordinal[p]++; path[p]!marker(ordinal[p], 0); ours[p] = sent
#ifdef MARKER_COUNTS_BUSY
          :: busy -> ours[p] = sent
#else
          :: busy -> note_busy()
#endif
          fi; p++
       :: p < 2 && ours[p] != due -> p++
       :: p >= 2 -> break
       od;
       busy = 0;
       do
       :: waiting > 0 && !busy ->
          post_message(queue[0]);
          if
          :: !busy -> i = 1;
             do :: i < waiting -> queue[i - 1] = queue[i]; i++ :: else -> break od;
             waiting--; queue[waiting] = 0
          :: else -> note_busy()
          fi
       :: else -> break
       od;
       i = 0; p = 0; busy = 0 }
  :: atomic { moves < MOVES ->                      /* move() */
       moves++; ours[send_path] = due; send_path = 1 - send_path; ours[send_path] = none; mark_dirty() }
  :: atomic { nempty(acks[0]) -> acks[0]?i;
       if
#ifdef LATE_MARKER
       :: LEFT(0) -> ours[0] = acked
#else
       :: (ours[0] == sent || ours[0] == acked) && i == ordinal[0] -> ours[0] = acked
#endif
       :: else
       fi; i = 0 }
  :: atomic { nempty(acks[1]) -> acks[1]?i;
       if
#ifdef LATE_MARKER
       :: LEFT(1) -> ours[1] = acked
#else
       :: (ours[1] == sent || ours[1] == acked) && i == ordinal[1] -> ours[1] = acked
#endif
       :: else
       fi; i = 0 }
  /* emptied(): the other path may be closed now. What is then on it would be lost. */
#ifdef MARKER_FIRST
  :: d_step { ours[1 - send_path] == sent -> assert(empty(path[1 - send_path])) }
#else
  :: d_step { ours[1 - send_path] == acked -> assert(empty(path[1 - send_path])) }
#endif
  :: program == MESSAGES && moves == MOVES && taken == MESSAGES && ours[1 - send_path] == acked -> break
  od
}

proctype Receiver() {                               /* Receiver::on_ordered(), Reorder, Bml::on_marker() */
  byte early[MESSAGES + 2];
  byte expected = 1, number, content;
  mtype what;
  bit p;
end: do
  :: atomic { (nempty(path[0]) || nempty(path[1])) ->
       if :: nempty(path[0]) -> p = 0 :: nempty(path[1]) -> p = 1 fi;
       path[p]?what(number, content);
       if
       :: what == message -> assert(number >= expected && early[number] == 0); early[number] = content
       :: what == marker -> acks[p]!number
       fi;
       do
       :: early[expected] != 0 -> taken++; assert(early[expected] == taken); early[expected] = 0; expected++
       :: else -> break
       od;
       number = 0; content = 0; p = 0; what = message }
  od
}

init { atomic { ours[0] = none; ours[1] = none; run Sender(); run Receiver() } }
