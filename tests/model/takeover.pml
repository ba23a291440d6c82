/* SPDX-License-Identifier: BSD-3-Clause */
/* takeover.pml -- who finishes a ladder whose coordinator was killed, froze, or gave up: the lease, what "busy" means,
 * how a ladder ends, and takeovers (docs/SWITCH.md, "When nobody resumes"). ladder.pml models the rungs themselves,
 * with frames on them, refusals and newcomers; here members only stand on them.
 *
 * What stands for what: member() is MemberMachine (control/ladder/member.cc): handle(Order), handle(PromiseRequest),
 *   handle(LadderEnd), handle(RungReport); LIVE is live(), ABANDONED is abandoned_since(). coordinator() is
 *   CoordinatorMachine: advance_promise(), begin_takeover(), next_rung(), rung_failed(), end() and leaves_open(),
 *   meet_other_term(), gives_way(), advance_follow(). LEFT is TakeoverWatch, of both members: which of them comes first
 *   (Takeover::turn()) is left open. raise_term() is a coordinator that ends, and a later one.
 * Coordinators, by rising terms: 1 is the command; 2 to T are takers, each a member's process that begins when that
 *   member finds the ladder abandoned, or (the first OPERATORS of them) an operator's resume or abort, which begins at
 *   any time. Takers work concurrently. With -DRIVAL 2 is a concurrent command, and 3 the taker. All but T may be
 *   killed at any step (KILLS in all), give up waiting for a promise or a rung (IMPATIENT in all), and one of them may
 *   freeze for longer than its lease and come back (FREEZE). T is neither killed nor impatient: what is left in the end
 *   is left by the protocol.
 * Messages: what a coordinator says to a member arrives in order, at any time; once the coordinator is gone, the rest
 *   may be lost (CUTS in all, not T's). Answers are read where they are written, each at a time of its own.
 * Shown: no order skips a rung, members are never more than one rung apart, and nothing goes down from NEW; the job
 *   takes over from no coordinator that is neither killed nor frozen; all that report an end of the ladder, "done" or
 *   "taken back", report the same one, while all members stand there, and afterwards nobody moves, nor does a member
 *   that considers the ladder ended; and when nothing more can happen, all members rest on one rung, and none waits for
 *   a coordinator (unless the last taker is an operator's abort that came too late).
 * Mutants: -DNO_FENCE (a member follows orders of a lower term), -DNO_FOLLOW (a coordinator whose ladder was taken over
 *   reports what it had ordered), -DDOWN_FROM_NEW (abort takes back what is committed), -DNO_BUSY (a member makes a
 *   promise although its coordinator lives), -DJOB_FORCES (a member's takeover asks with an operator's right),
 *   -DSAME_TERM (2 and 3 draw the same term), -DONE_PROMISE (a coordinator orders with one member's promise),
 *   -DONE_ANSWER (it orders the next rung when one member has reached this one), -DREPEATS (a takeover goes up although
 *   all rest, or go down), -DSETTLES_FIRST (it checks whether anything is unfinished before it has promises),
 *   -DONLY_LOWEST (member 1 never acts for a member 0 that knows of nothing to finish).
 *   With -DBY_LOWEST (member 0 alone begins takeovers, and no coordinator gives up waiting for a promise) what is said
 *   at a ladder's end must suffice: -DEND_IS_REST (a member that rests does not ask whether its coordinator has ended),
 *   -DNO_LEFT_OPEN (a coordinator's end does not say that something is left), -DREST_IS_ALL (it checks whether members
 *   rest, but not whether its orders have arrived).
 * Run: tests/model/run_takeover.sh
 */
#ifndef KILLS
#define KILLS 1
#endif
#ifndef CUTS
#define CUTS 1
#endif
#ifndef FREEZE
#define FREEZE 1  /* 0: the command does not freeze */
#endif
#ifndef OPERATORS
#define OPERATORS 0  /* of the takers */
#endif
#ifndef IMPATIENT
#define IMPATIENT 1
#endif
#define N 2
#ifndef T
#define T 3
#endif
#define S 7
#define OLD 0
#define NEWTX 2
#define NEW 3

/* Members. */
byte term[N], seq[N], rung[N];
bit reached[N], undoing[N], begun[N];
bit ended[N], left_open[N], lease[N];
/* Coordinators, what they have said, and what they have heard. */
bit asked[T + 1], forces[T + 1], gone[T + 1];
bit end_said[T + 1], unfinished_said[T + 1];
byte orders[T + 1];
byte order_rung[(T + 1) * (S + 1)];
bit order_down[(T + 1) * (S + 1)];
bit promised[(T + 1) * N];
byte acked[(T + 1) * N];
bit cut[(T + 1) * N];
byte kills = KILLS, cuts = CUTS;
byte impatient = IMPATIENT;
byte froze = 0;  /* who got no processor for longer than its lease; 0: nobody */
byte told = 0;   /* 1 + the rung that a coordinator has named as the end of the ladder */

#define AT(t, s) ((t) * (S + 1) + (s))
#define OF(t, i) ((t) * N + (i))
#define AT_REST(i) ((rung[i] == OLD || rung[i] == NEW) && reached[i])
#define UNFINISHED(i) (begun[i] && !AT_REST(i))
#define LIVE(i) (!ended[i] && lease[i])
#ifdef END_IS_REST
#define ABANDONED(i) (!LIVE(i) && UNFINISHED(i))
#else
#define ABANDONED(i) (!LIVE(i) && (UNFINISHED(i) || !ended[i] || left_open[i]))
#endif
#ifdef NO_LEFT_OPEN
#define NEWS(i) false
#else
#define NEWS(i) (left_open[i] != unfinished_said[term[i]])
#endif
#ifdef NO_BUSY
#define NOT_BUSY true
#else
#define NOT_BUSY (!LIVE(i))
#endif

#define MAY_FREEZE(t) (FREEZE && t < T && (froze == 0 || froze == t))
/* It holds the ladder to have ended where it stands. */
#define OVER(i) (begun[i] && AT_REST(i) && ended[i] && !left_open[i])
#define APART (rung[0] > rung[1] + 1 || rung[1] > rung[0] + 1)

inline take(t) {
  assert(!OVER(i) || order_rung[AT(t, seq[i] + 1)] == rung[i]);
  assert(told == 0 || order_rung[AT(t, seq[i] + 1)] == told - 1);
  assert(order_rung[AT(t, seq[i] + 1)] <= rung[i] + 1 && rung[i] <= order_rung[AT(t, seq[i] + 1)] + 1);
  assert(!(rung[i] == NEW && order_rung[AT(t, seq[i] + 1)] < NEW));
  seq[i]++;
  rung[i] = order_rung[AT(t, seq[i])]; undoing[i] = order_down[AT(t, seq[i])];
  reached[i] = 0; begun[i] = 1; lease[i] = !gone[t];
  assert(!APART)
}
#define ORDERED(t) (seq[i] < orders[t] && !cut[OF(t, i)])

/* One of a lower term that was at work: killed, has ended, froze, or an operator has taken over from it. */
#define FORCED(t, p, q) (p < q && q < t && forces[q])
#define ROBBED(t, p) (gone[p] || froze == p || orders[p] == 0 || FORCED(t, p, 2) || FORCED(t, p, 3))
#ifdef JOB_FORCES
#define FORCES(t) (t > 1)
#else
#define FORCES(t) forces[t]
#endif
inline promise(t) {
  assert(forces[t] || t == 1 || ROBBED(t, 1) && (t < 3 || ROBBED(t, 2)) && (t < 4 || ROBBED(t, 3)));
  term[i] = t; seq[i] = 0; ended[i] = 0; lease[i] = !gone[t]; promised[OF(t, i)] = !gone[t]
}
#define MAY_PROMISE(t) (asked[t] && t > term[i] && !cut[OF(t, i)] && (FORCES(t) || NOT_BUSY))

proctype member(byte i) {
end: do
#ifdef NO_FENCE
  :: d_step { ORDERED(1) -> take(1) }
  :: d_step { ORDERED(2) -> take(2) }
  :: d_step { ORDERED(3) -> take(3) }
#elif defined(SAME_TERM)
  :: d_step { (term[i] > 0 && ORDERED(term[i])) -> take(term[i]) }
  :: d_step { (term[i] == 3 && ORDERED(2)) -> take(2) }
#else
  :: d_step { (term[i] > 0 && ORDERED(term[i])) -> take(term[i]) }
#endif
  :: d_step { MAY_PROMISE(1) -> promise(1) }
  :: d_step { MAY_PROMISE(2) -> promise(2) }
  :: d_step { MAY_PROMISE(3) -> promise(3) }
#if T > 3
  :: d_step { MAY_PROMISE(4) -> promise(4) }
#endif
  :: d_step { (term[i] > 0 && end_said[term[i]] && !cut[OF(term[i], i)]   /* a coordinator's end, behind its orders */
       && seq[i] == orders[term[i]] && (!ended[i] || NEWS(i))) ->
       ended[i] = 1; lease[i] = 0;
#ifndef NO_LEFT_OPEN
       left_open[i] = unfinished_said[term[i]]
#endif
     }
  :: d_step { !reached[i] -> reached[i] = 1;   /* the rung is reached */
       if :: !gone[term[i]] -> acked[OF(term[i], i)] = seq[i] :: else fi }
  :: d_step { (LIVE(i) && (gone[term[i]] || MAY_FREEZE(term[i]))) -> lease[i] = 0;   /* the lease runs out */
       if :: !gone[term[i]] -> froze = term[i] :: else fi }
  od
}

#ifdef ONE_PROMISE
#define ALL_PROMISED(t) (promised[OF(t, 0)] || promised[OF(t, 1)])
#else
#define ALL_PROMISED(t) (promised[OF(t, 0)] && promised[OF(t, 1)])
#endif
#ifdef ONE_ANSWER
#define ALL_ACKED(t) (acked[OF(t, 0)] == orders[t] || acked[OF(t, 1)] == orders[t])
#else
#define ALL_ACKED(t) (acked[OF(t, 0)] == orders[t] && acked[OF(t, 1)] == orders[t])
#endif
#define OVERTAKEN(t) (term[0] > t || term[1] > t)
#define ALL_REST (AT_REST(0) && AT_REST(1))
#ifdef REST_IS_ALL
#define NOTHING_LEFT(t) ALL_REST
#else
/* An order that has not been taken may still be: behind(). */
#define BEHIND(t, i) (term[i] <= t && seq[i] < orders[t])
#define NOTHING_LEFT(t) (ALL_REST && !BEHIND(t, 0) && !BEHIND(t, 1))
#endif
#ifdef RIVAL
#define RIVALS(t) (t == 2)   /* it only asks, and finds the job busy or as it should be */
#else
#define RIVALS(t) false
#endif
#define LOWEST (rung[0] < rung[1] -> rung[0] : rung[1])
#define HIGHEST (rung[0] > rung[1] -> rung[0] : rung[1])
#define MORTAL (t < T && kills > 0)

inline report(place) {
  atomic { assert(rung[0] == place && rung[1] == place && (told == 0 || told == 1 + place)); told = 1 + place }
}

inline give(to, down) {
  orders[t]++; order_rung[AT(t, orders[t])] = to; order_down[AT(t, orders[t])] = down
}

#if defined(BY_LOWEST) || defined(ONLY_LOWEST)
#define LEFT ABANDONED(0)
#else
#define LEFT (ABANDONED(0) || ABANDONED(1))
#endif
/* Of two that begin at once the higher is named last. A lower one that began later would have seen the term of this. */
#define BEFORE_BEGAN (t == 2 || asked[t - 1] || gone[t - 1])

proctype coordinator(byte t) {
  byte to; bit down, may_retract, aborts, done;
  byte place[N]; bit settled[N];
  /* It begins. */
end_begin: if
  :: t == 1
#ifdef RIVAL
  :: t == 2 && ALL_REST
  :: t > 2 && LEFT && (gone[2] || !asked[2])
#else
  :: t > 1 && BEFORE_BEGAN && LEFT
  :: t > 1 && t <= 1 + OPERATORS && BEFORE_BEGAN && (begun[0] || begun[1]) -> forces[t] = 1; if :: aborts = 1 :: skip fi
#endif
  fi;
  if
  :: t > 1 && !forces[t] && (LIVE(0) || LIVE(1)) -> goto end_begin    /* it gives way, and tries again */
  :: else
  fi;
#ifdef SETTLES_FIRST
  if :: t > 1 && !UNFINISHED(0) && !UNFINISHED(1) -> asked[t] = 1; goto goodbye :: else fi;
#endif
  asked[t] = 1;
end_promise: if
  :: atomic { ALL_PROMISED(t) ->                    /* the members are at rest now, but for orders that are older */
       if
       :: t == 1 -> give(1, 0); to = 1; may_retract = 1
#ifdef REPEATS
       :: t > 1 && !begun[0] && !begun[1] -> done = 1
#else
       :: t > 1 && (!UNFINISHED(0) && !UNFINISHED(1) || RIVALS(t)) -> done = 1
#endif
       :: else ->
          to = HIGHEST;
          if
#ifdef DOWN_FROM_NEW
          :: aborts -> to = HIGHEST - 1; down = 1
          :: !aborts && HIGHEST == NEW -> skip
#else
          :: HIGHEST == NEW && aborts -> done = 1    /* too late */
          :: HIGHEST == NEW && !aborts -> skip
#endif
#ifndef REPEATS
          :: HIGHEST < NEWTX && (undoing[0] || undoing[1]) -> to = LOWEST; down = 1
#endif
          :: else -> if :: to > OLD && aborts -> to--; down = 1 :: else -> may_retract = (to > OLD) fi
          fi;
          if :: !done -> give(to, down) :: else fi
       fi }
#if !defined(RIVAL) && !defined(BY_LOWEST)
  :: atomic { t < T && impatient > 0 && !ALL_PROMISED(t) -> impatient--; goto goodbye }
#endif
  :: OVERTAKEN(t) -> goto rival
  :: atomic { MORTAL -> kills--; gone[t] = 1; goto dead }
  fi;
  if :: done -> goto goodbye :: else fi;
end_rung: do
  :: atomic { ALL_ACKED(t) ->
       if
       :: !down && to == NEW -> break
       :: down && to == OLD -> break
       :: !down && to < NEW -> to++; may_retract = 1; give(to, 0)
       :: down && to > OLD -> to--; give(to, 1)
       fi }
  :: atomic { t < T && impatient > 0 && may_retract && !down && to < NEW && to > OLD && !ALL_ACKED(t) ->
       impatient--; to--; down = 1; may_retract = 0; give(to, 1) }
  :: atomic { t < T && !ALL_ACKED(t) && (impatient > 0 && to == NEW || impatient < IMPATIENT && down) -> goto goodbye }
  :: OVERTAKEN(t) -> goto rival
  :: atomic { MORTAL -> kills--; gone[t] = 1; goto dead }
  od;
  if
  :: !down -> report(NEW)                           /* "done" */
  :: down -> report(OLD)                            /* "taken back" */
  fi;
  goto goodbye;

rival: if
  :: (t == 1 || forces[t]) && orders[t] > 0 -> goto follow
  :: else
  fi;
goodbye: atomic { unfinished_said[t] = !NOTHING_LEFT(t); end_said[t] = 1; gone[t] = 1 };
  do                                                /* a member that was late is no longer left open */
  :: d_step { unfinished_said[t] && NOTHING_LEFT(t) -> unfinished_said[t] = 0 }
  :: break
  od;
  goto dead;

follow:                                             /* it orders nothing more, and watches how its ladder ends */
#ifdef NO_FOLLOW
  if :: !down -> report(NEW) :: else -> report(OLD) fi;
  goto dead;
#endif
  do
  :: d_step { settled[0] = (term[0] > t && !LIVE(0) && AT_REST(0)); place[0] = rung[0] }
  :: d_step { settled[1] = (term[1] > t && !LIVE(1) && AT_REST(1)); place[1] = rung[1] }
  :: settled[0] && settled[1] -> break
  :: goto dead                                      /* "busy" */
  od;
  if
  :: place[0] == NEW && place[1] == NEW -> report(NEW)
  :: place[0] == OLD && place[1] == OLD -> report(OLD)
  :: else                                           /* "busy" */
  fi;

dead: skip;
  d_step { gone[t] = 1;
    to = 0; down = 0; may_retract = 0; aborts = 0; done = 0;
    acked[OF(t, 0)] = 0; acked[OF(t, 1)] = 0; promised[OF(t, 0)] = 0; promised[OF(t, 1)] = 0;
    place[0] = 0; place[1] = 0; settled[0] = 0; settled[1] = 0 }
  if                                                /* what it had said may not arrive */
  :: atomic { cuts > 0 && t < T -> cuts--; cut[OF(t, 0)] = 1 }
  :: atomic { cuts > 0 && t < T -> cuts--; cut[OF(t, 1)] = 1 }
  :: skip
  fi;
#ifndef NO_FENCE
end_forgotten: d_step { (term[0] > t && term[1] > t) ->   /* nobody can follow it any more */
    orders[t] = 0; unfinished_said[t] = 0; asked[t] = 0; cut[OF(t, 0)] = 0; cut[OF(t, 1)] = 0;
    to = 1;
    do :: to <= S -> order_rung[AT(t, to)] = 0; order_down[AT(t, to)] = 0; to++ :: else -> break od;
    to = 0 }
#endif
}

proctype at_the_end() {
end_wait: timeout -> assert(forces[T] || ALL_REST && rung[0] == rung[1] && !LEFT)
}

init {
  atomic {
    ended[0] = 1; ended[1] = 1; reached[0] = 1; reached[1] = 1;
    run member(0); run member(1); run coordinator(1); run coordinator(2); run coordinator(3);
#if T > 3
    run coordinator(4);
#endif
    run at_the_end()
  }
}
