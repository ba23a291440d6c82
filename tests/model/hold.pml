/* SPDX-License-Identifier: BSD-3-Clause */
/* hold.pml -- a hold of two members and its lease (docs/HOLD.md): parked, sealed, snapshots at different times, and
 * afterwards the question whether it held throughout.
 *
 * What stands for what: member() is Hold (core/switch/hold.cc): start(), look(), watch(), break_up(), end(); what it
 *   may still send while it is parked is Elector::park() and still_on_its_way(). orchestrator() is HoldMachine
 *   (control/ladder/hold_machine.h): park, seal, renew, check; it may be killed at any step. A process that was not
 *   held may send to member 0 (it joined late).
 * A lease may run out at any time: it is counted on a clock that the others do not see.
 * Shown: if the check says that it held throughout, each message is in both snapshots or in neither, and no message of
 *   a process without a snapshot is in one; and when nothing more can happen, nobody is parked and all that was sent
 *   has arrived.
 * Mutants: -DUNPROVED (a member says parked when its marker is posted), -DRENEWS_BROKEN (a renewal parks a member again
 *   whose lease ran out), -DFORGETS (a lease that ran out leaves no trace), -DNO_COUNT (frames that come after the seal
 *   are not counted), -DLOOKS_LATE (a member answers without having counted), -DNO_LEASE (a member waits for ever for
 *   the end of its hold).
 * Run: tests/model/run_hold.sh
 */
#ifndef MESSAGES
#define MESSAGES 2   /* of each member */
#endif
#define N 2

mtype = { none, parking, parked, broken };         /* HoldState */
mtype = { message, marker, marker_ack };

chan wire[N] = [MESSAGES + 3] of { mtype };         /* from member i to the other */
mtype state[N];
bit sealed[N];
bit lease[N];
bit marker_acked[N], answer_due[N];
byte sent[N], got[N], outside_got[N];
byte taken_at_seal[N];
bit outsider_sent = 0;
/* What the orchestrator has ordered. */
bit start_said[N], seal_said[N], renew_said[N], end_said[N];
/* What is in the snapshots. */
byte sent_in[N], got_in[N], outside_in[N];
bit killed = 0;

#define PARKS(i) (state[i] == parking || state[i] == parked)
#define TAKEN(i) (got[i] + outside_got[i])

inline unpark(i) { sealed[i] = 0; marker_acked[i] = 0; lease[i] = 0 }
inline break_up(i) {
  unpark(i);
#ifdef FORGETS
  state[i] = none
#else
  state[i] = broken
#endif
}

proctype member(byte i) {
end: do
  :: atomic { !PARKS(i) && sent[i] < MESSAGES && nfull(wire[i]) -> wire[i]!message; sent[i]++ }
  :: atomic { wire[1 - i]?[message] -> wire[1 - i]?message; got[i]++ }
  :: atomic { wire[1 - i]?[marker] -> wire[1 - i]?marker; answer_due[i] = 1 }
  :: atomic { wire[1 - i]?[marker_ack] -> wire[1 - i]?marker_ack; if :: PARKS(i) -> marker_acked[i] = 1 :: else fi }
  :: atomic { answer_due[i] && nfull(wire[i]) -> wire[i]!marker_ack; answer_due[i] = 0 }
  :: atomic { start_said[i] && state[i] == none && !end_said[i] && nfull(wire[i]) ->   /* start() */
       start_said[i] = 0; state[i] = parking; lease[i] = 1; wire[i]!marker }
  :: atomic { renew_said[i] && PARKS(i) -> renew_said[i] = 0; lease[i] = 1 }
#ifdef RENEWS_BROKEN
  :: atomic { renew_said[i] && state[i] == broken && nfull(wire[i]) ->
       renew_said[i] = 0; state[i] = parking; lease[i] = 1; sealed[i] = 1; wire[i]!marker }
#endif
#ifdef FORGETS
  :: atomic { renew_said[i] && state[i] == none && nfull(wire[i]) ->
       renew_said[i] = 0; state[i] = parking; lease[i] = 1; sealed[i] = 1; wire[i]!marker }
#endif
  :: atomic { (state[i] == parking                  /* look() */
#ifndef UNPROVED
       && marker_acked[i]
#endif
       && !answer_due[i]
       ) -> state[i] = parked }
  :: atomic { seal_said[i] && state[i] == parked -> seal_said[i] = 0; sealed[i] = 1; taken_at_seal[i] = TAKEN(i) }
#ifndef NO_COUNT
  :: d_step { sealed[i] && TAKEN(i) != taken_at_seal[i] -> break_up(i) }   /* watch() */
#endif
#ifndef NO_LEASE
  :: d_step { PARKS(i) -> break_up(i) }             /* the lease has run out */
#endif
  :: d_step { end_said[i] && state[i] != none -> unpark(i); state[i] = none }
  :: atomic { i == 0 && outsider_sent == 1 -> outsider_sent = 0; outside_got[0]++ }
  od
}

proctype outsider() { if :: outsider_sent = 1 :: skip fi }

/* A member's answer: it watches first, EngineCore::with_hold(). */
#if defined(LOOKS_LATE) || defined(NO_COUNT)
#define HELD(i) (state[i] == parked && sealed[i])
#else
#define HELD(i) (state[i] == parked && sealed[i] && TAKEN(i) == taken_at_seal[i])
#endif

inline snapshot(i) { d_step { sent_in[i] = sent[i]; got_in[i] = got[i]; outside_in[i] = outside_got[i] } }

proctype orchestrator() {
  bit first;
  start_said[0] = 1; start_said[1] = 1;
  if :: state[0] == parked :: state[0] == broken -> goto back :: goto dead fi;
  if :: state[1] == parked :: state[1] == broken -> goto back :: goto dead fi;
  seal_said[0] = 1; seal_said[1] = 1;
  if :: (HELD(0) && HELD(1)) :: (state[0] == broken || state[1] == broken) -> goto back :: goto dead fi;
  if :: first = 0 :: first = 1 fi;
  snapshot(first);
  if :: renew_said[0] = 1; renew_said[1] = 1 :: skip fi;
  snapshot(1 - first);
  /* check: of each member at the time of its answer */
  if :: HELD(0) :: !HELD(0) -> goto back :: goto dead fi;
  if
  :: d_step { HELD(1) ->
       assert(got_in[1] == sent_in[0] && got_in[0] == sent_in[1]);
       assert(outside_in[0] == 0 || taken_at_seal[0] == got_in[0] + outside_in[0]) }
  :: !HELD(1)
  :: goto dead
  fi;
back: end_said[0] = 1; end_said[1] = 1;
dead: killed = 1
}

proctype at_the_end() {
end_wait: timeout -> assert(!PARKS(0) && !PARKS(1) && got[0] == sent[1] && got[1] == sent[0])
}

init {
  atomic {
    state[0] = none; state[1] = none;
    run member(0); run member(1); run outsider(); run orchestrator(); run at_the_end()
  }
}
