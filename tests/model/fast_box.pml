/* SPDX-License-Identifier: BSD-3-Clause */
/* fast_box.pml -- one direction of a pair with a fast box (core/path/fast_box.h, core/lane/boxes.cc): a writer whose
 * messages go through the box, through the ring beside it, or over another transport, and a reader that orders them.
 *
 * Shown: every message is taken once, in order, whichever way each went, and nothing waits for ever: a state in which
 *   some message was sent and can no longer be taken is an invalid end state.
 * A slot's word distinguishes numbers modulo WORDS (2^24 in the code), and the box has SLOTS slots (128). A reader
 *   clears the words of numbers that it has passed before more than CLEAN numbers (2^16, and what passes in a
 *   millisecond) have passed since it last did so: otherwise a slot whose numbers always go another way keeps its word
 *   for ever. A slot's ghost is the whole number: taking the slot for another number's violates an assertion.
 * One writer's stores are seen in the order in which they were made, in box and ring alike (release and acquire). What
 *   one end does under its lock is one step.
 * Mutants: -DNO_DRAIN (a frame from the ring is handled before the box is empty), -DNO_ORDINAL (an answer to an earlier
 *   request is believed), -DNO_CLEAR (old words stay when a box is granted), -DNO_CLEANING (words stay), -DNO_TAKEN
 *   (slots are reused before they were taken), -DNO_SETTLING (a lease is taken while what was sent before a move may be
 *   on its way), -DLEASE_OUTLIVES_MOVE (the box is written to after the marker), -DCLOSED_AT_ONCE (the reader stops
 *   looking as soon as it wants the box back).
 * Not modelled: credit, loss of a path (the peer is lost with it), the threshold and the cap (any time is possible).
 * Run: tests/model/run_fast_box.sh
 */

#ifndef MESSAGES
#define MESSAGES 11
#endif
#define SLOTS 2
#define WORDS 8
#define CLEAN 1

mtype = { number, ask, left, marker, granted, refused };

chan ring = [2] of { mtype, byte };  /* the rest of the path */
chan other = [1] of { byte };        /* another transport's path */
chan back = [2] of { mtype, byte };  /* the reader's notes, through its own ring */

byte word[SLOTS];   /* number modulo WORDS, plus 1; 0: cleared */
byte ghost[SLOTS];  /* the number */
byte taken;         /* the reader has taken all below this */

byte expected = 1;
byte sent = 1;      /* the next number */
byte moved_at = 0;  /* all below this went before the last move */

#ifdef NO_SETTLING
#define SETTLED true
#else
#define SETTLED (expected >= moved_at)  /* the acknowledgement comes later: that only waits longer */
#endif
#define CREDIT (sent <= MESSAGES && sent - expected <= 3)  /* a bound on what is on its way */
#define WORD_OF(n) ((n) % WORDS + 1)

#ifdef LEASE_OUTLIVES_MOVE
#define LEASED true
#else
#define LEASED on_path
#endif
#ifdef NO_TAKEN
#define ROOM true
#else
#define ROOM (sent - taken < SLOTS)
#endif
#ifdef NO_CLEANING
#define CLEAN_ENOUGH true
#else
#define CLEAN_ENOUGH (!polled || expected - clean_at <= CLEAN)
#endif
#ifdef NO_ORDINAL
#define MEANT true
#else
#define MEANT (about == ordinal)
#endif

proctype Writer() {
  bool on_path = true, has_asked = false, has_box = false;
  byte ordinal = 0, requests = 0, moves = 0;
  mtype note;
  byte about;
  do
  /* a message */
  :: atomic { CREDIT && has_box && LEASED && ROOM && SETTLED ->
       ghost[sent % SLOTS] = sent;
       word[sent % SLOTS] = WORD_OF(sent);
       sent++ }
  :: atomic { CREDIT && on_path && nfull(ring) -> ring!number(sent); sent++ }
  :: atomic { CREDIT && !on_path && nfull(other) -> other!sent; sent++ }
  /* the box */
  :: atomic { on_path && !has_asked && !has_box && requests < 3 && nfull(ring) ->
       ordinal++; requests++; has_asked = true; ring!ask(ordinal) }
  :: atomic { back?note(about) ->
       if
       :: note == granted && has_asked && MEANT -> has_asked = false; has_box = true
       :: note == refused && has_asked && about == ordinal -> has_asked = false
       :: note == refused && has_box && about == ordinal && on_path -> has_box = false; ring!left(ordinal)
       :: else -> skip
       fi }
  /* moves: the marker is the last frame on the path */
  :: atomic { on_path && moves < 2 && nfull(ring) ->
       on_path = false; moved_at = sent; moves++; ring!marker(0); has_asked = false;
#ifndef LEASE_OUTLIVES_MOVE
       has_box = false;
#endif
       skip }
  :: atomic { !on_path && moves > 0 -> on_path = true; moved_at = sent }
  :: sent > MESSAGES -> break
  od
}

inline take(n) { assert((n) == expected); expected++ }

proctype Reader() {
  bool polled = false, wants_back = false;
  bool early[MESSAGES + 2];
  byte ordinal = 0, n = 0, clean_at = 0;
  mtype what;
  bit i;

#define TO_COME(w) ((w) != 0 && ((w) - 1 + WORDS - expected % WORDS) % WORDS < SLOTS)
#define CLEAR(i) if :: atomic { word[i] != 0 && !TO_COME(word[i]) -> word[i] = 0 } :: else -> skip fi  /* a compare-and-swap */
#define NEXT_IN_BOX (polled && word[expected % SLOTS] == WORD_OF(expected))
#define DRAIN \
  do \
  :: NEXT_IN_BOX -> take(ghost[expected % SLOTS]) \
  :: else -> break \
  od
#define DELIVER_EARLY \
  do \
  :: expected <= MESSAGES && early[expected] -> early[expected] = false; expected++ \
  :: else -> break \
  od

  do
  :: atomic { CLEAN_ENOUGH && NEXT_IN_BOX -> take(ghost[expected % SLOTS]); DELIVER_EARLY; taken = expected }
  :: atomic { CLEAN_ENOUGH && nempty(ring) -> ring?what(n);
#ifndef NO_DRAIN
       DRAIN; DELIVER_EARLY; DRAIN;
#endif
       if
       :: what == number ->
            if
            :: n == expected -> expected++
            :: n > expected -> early[n] = true
            :: else -> assert(false)
            fi
       :: what == ask ->
            ordinal = n;
            assert(!polled);
#ifndef NO_CLEAR
            word[0] = 0; word[1] = 0;
#endif
            if
            :: nfull(back) -> polled = true; wants_back = false; taken = expected; clean_at = expected; back!granted(ordinal)
            :: nfull(back) -> back!refused(ordinal)
            :: full(back) -> skip
            fi
       :: what == left -> if :: n == ordinal -> polled = false :: else -> skip fi
       :: what == marker -> polled = false
       fi;
       DELIVER_EARLY; if :: polled -> taken = expected :: else -> skip fi; n = 0 }
  :: atomic { CLEAN_ENOUGH && nempty(other) -> other?n;
  
       if
       :: n == expected -> expected++
       :: n > expected -> early[n] = true
       :: else -> assert(false)
       fi;
       DELIVER_EARLY; n = 0 }
#ifndef NO_CLEANING
  :: !CLEAN_ENOUGH -> CLEAR(0); CLEAR(1); clean_at = expected
#endif
  :: atomic { polled && !wants_back && nfull(back) -> wants_back = true; back!refused(ordinal);
#ifdef CLOSED_AT_ONCE
       polled = false;
#endif
       skip }
  :: atomic { expected > MESSAGES && empty(ring) && empty(other) -> break }
  od
}

init { atomic { run Writer(); run Reader() } }
