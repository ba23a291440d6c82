/* SPDX-License-Identifier: BSD-3-Clause */
/* restored.pml -- a hold that was restored: two members that one hold has parked and sealed, commands that claim, raise
 * and end, and leases (docs/HOLD.md, "After a restore"). How they came to be parked is in hold.pml.
 *
 * What stands for what: member() is Hold (core/switch/hold.cc): end(), claim(), restore(), watch(), and meets(), with
 *   Fence::meet(). restorer() is HoldMachine of `job restored` (control/ladder/hold_restored.cc): misfit(),
 *   choose_incarnation(), claim, raise, end. ender() is `hold end`: restore_begun(), end.
 *   Every claim has a number, above those that its restorer has seen, and no two are the same: a member that has
 *   promised itself to one refuses claims and raises with lower numbers.
 * Restorers: 1 may be killed at any step; 2 is not killed, and is called again while some are raised. 2 begins at any
 *   time, with 1 at work, ended or killed. What 1 has asked may still arrive then, or not at all; a claim may also
 *   arrive repeatedly.
 * A lease may run out at any time (-DLEASES=1); with -DENDER=1 there is a `hold end` at the same time, which may be
 *   killed.
 * Shown: a restorer that reports "all go on" does so while all are raised to one incarnation and send, and afterwards
 *   nobody is raised to another, or fenced out; no two are ever raised to different ones; if anybody is raised, the
 *   next restorer brings all to that incarnation, whichever leases have run out meanwhile (without a `hold end`), and
 *   is refused only because of another restorer's claim; nobody that is not raised has been let go by a `hold end`
 *   while another is raised (as long as leases last); and when nothing more can happen, no lease is left to park
 *   anybody.
 * Mutants: -DNO_CLAIM (a restorer raises without a claim), -DENDS_CLAIMED (a member's hold ends although it is
 *   claimed), -DHALF_CLAIMED (a restorer raises when one is claimed), -DNEW_INCARNATION (the second restorer takes a
 *   new one although some are raised), -DKEEPS_OUT (a member that was fenced out is not raised), -DWANTS_ALL_PARKED
 *   (what is half raised must still be parked), -DLATE_BINDS (a late claim also binds members that are raised),
 *   -DENDS_ONE (a restorer reports when one sends), -DONE_CLAIM (a claim does not say whose it is), -DOLD_LOOK (a
 *   restorer goes by what it saw before its claims).
 * Run: tests/model/run_restored.sh
 */
#ifndef LEASES
#define LEASES 1
#endif
#ifndef ENDER
#define ENDER 0
#endif
#ifndef AT_ONCE
#define AT_ONCE 1   /* 0: restorer 2 begins when 1 has ended or was killed */
#endif
#define N 2
#define FIRST 1   /* the incarnation of a job that was held */

mtype = { none, parked, broken, fenced };   /* HoldState */

mtype state[N];
bit held[N];      /* its id is that of the hold */
bit claimed[N], raised[N], let_go[N];
byte own[N];      /* incarnation */
byte promised[N]; /* the highest claim that it has seen */
/* What a restorer has seen of each member, most recently with the answer to its claim. */
mtype was[3 * N];
bit was_raised[3 * N], was_held[3 * N], was_claimed[3 * N];
byte was_own[3 * N], was_promised[3 * N];
byte number[3];   /* its claim */
/* What a restorer has asked, and been answered: for 1 and 2. */
#define NOTHING 0
#define CLAIM 1
#define END 2
#define RAISE 3     /* and the incarnation */
byte ask[3 * N];
bit claim_sent[3 * N];   /* a repeated one may come late */
bit refused[3 * N], done[3 * N];
bit over[3];      /* killed or ended */
byte told = 0;    /* the incarnation that "all go on" named */

#define OF(c, i) ((c) * N + (i))
#define PARKS(i) (state[i] == parked || state[i] == fenced)

inline look(c, j) {
  was[OF(c, j)] = state[j]; was_raised[OF(c, j)] = raised[j]; was_held[OF(c, j)] = held[j];
  was_own[OF(c, j)] = own[j]; was_claimed[OF(c, j)] = claimed[j]; was_promised[OF(c, j)] = promised[j]
}

inline answer(c, no) { if :: over[c] :: else -> refused[OF(c, i)] = no; done[OF(c, i)] = !(no) fi }

inline end_hold(c) {
  ask[OF(c, i)] = NOTHING;
  if
#ifndef ENDS_CLAIMED
  :: held[i] && state[i] != fenced && claimed[i] -> answer(c, 1)
#endif
  :: else ->
     if
     :: held[i] && state[i] != none && state[i] != fenced ->
        state[i] = none; held[i] = 0; claimed[i] = 0; let_go[i] = !raised[i];
        assert(LEASES || !let_go[i] || !raised[1 - i])
     :: else
     fi;
     answer(c, 0)
  fi
}

#ifdef ONE_CLAIM
#define OUTDONE(n) false
#else
#define OUTDONE(n) ((n) < promised[i])
#endif
#ifdef OLD_LOOK
#define LOOK_AGAIN skip
#else
#define LOOK_AGAIN look(c, i)
#endif

inline claim(c) {
  ask[OF(c, i)] = NOTHING;
  if
  :: !held[i] && !raised[i] || OUTDONE(number[c]) -> answer(c, 1)
  :: else ->
     promised[i] = number[c];
     if :: state[i] == parked -> claimed[i] = !raised[i] :: else fi;
     if :: over[c] :: else -> LOOK_AGAIN fi;
     answer(c, 0)
  fi
}

#define TO(c) (ask[OF(c, i)] - RAISE)
inline raise(c) {
  if
  :: raised[i] && own[i] == TO(c) -> answer(c, 0)
  :: else ->
     if
     :: raised[i] || TO(c) <= own[i] || !held[i] || OUTDONE(number[c]) -> answer(c, 1)
#ifdef KEEPS_OUT
     :: state[i] == fenced -> answer(c, 1)
#endif
     :: else ->
        assert(told == 0 || told == TO(c));
        assert(!raised[1 - i] || own[1 - i] == TO(c));
        assert(LEASES || !let_go[1 - i]);
        own[i] = TO(c); raised[i] = 1; claimed[i] = 0;
        if :: state[i] == fenced -> state[i] = broken :: else fi;
        answer(c, 0)
     fi
  fi;
  ask[OF(c, i)] = NOTHING
}

#ifdef LATE_BINDS
#define LATE_CLAIM true
#else
#define LATE_CLAIM (!raised[i])
#endif
/* What a killed restorer has asked may also not arrive. */
inline takes(c) {
  if
  :: d_step { ask[OF(c, i)] == END -> end_hold(c) }
  :: d_step { ask[OF(c, i)] == CLAIM -> claim(c) }
  :: d_step { ask[OF(c, i)] >= RAISE -> raise(c) }
  :: d_step { over[c] && ask[OF(c, i)] != NOTHING -> ask[OF(c, i)] = NOTHING }
  :: d_step { claim_sent[OF(c, i)] && held[i] && state[i] == parked && !OUTDONE(number[c]) &&
       (promised[i] != number[c] || claimed[i] != LATE_CLAIM) ->
       promised[i] = number[c]; claimed[i] = LATE_CLAIM }
  fi
}

proctype member(byte i) {
end: do
  :: takes(0)
  :: takes(1)
  :: takes(2)
  :: d_step { LEASES && state[i] == parked ->   /* the lease has run out */
       state[i] = broken; claimed[i] = 0 }
  :: d_step { !PARKS(i) && own[1 - i] > own[i] -> state[i] = fenced; assert(told == 0) }   /* meets() */
  od
}

#define ASKED(i) (done[OF(c, i)] || refused[OF(c, i)])
#define REFUSED (refused[OF(c, 0)] || refused[OF(c, 1)])
#define ALL_DONE (done[OF(c, 0)] && done[OF(c, 1)])
#define MORTAL (c < 2)

inline begin(what) {
  d_step { refused[OF(c, 0)] = 0; refused[OF(c, 1)] = 0; done[OF(c, 0)] = 0; done[OF(c, 1)] = 0;
    ask[OF(c, 0)] = what; ask[OF(c, 1)] = what;
    if :: (what) == CLAIM -> claim_sent[OF(c, 0)] = 1; claim_sent[OF(c, 1)] = 1 :: else fi }
}

/* A restorer that has ended knows nothing: fewer states. */
inline forget(c, j) {
  was[OF(c, j)] = none; was_raised[OF(c, j)] = 0; was_held[OF(c, j)] = 0; was_own[OF(c, j)] = 0;
  was_claimed[OF(c, j)] = 0; was_promised[OF(c, j)] = 0; refused[OF(c, j)] = 0; done[OF(c, j)] = 0
}

#define BEGUN(c) (was_raised[OF(c, 0)] || was_raised[OF(c, 1)])
#ifdef WANTS_ALL_PARKED
#define FITS(c, j) (was[OF(c, j)] == parked)
#else
#define FITS(c, j) (was_raised[OF(c, j)] || was_held[OF(c, j)])
#endif
#define ONE_SET(c) (BEGUN(c) -> FITS(c, 0) && FITS(c, 1) : was[OF(c, 0)] == parked && was[OF(c, 1)] == parked)
#define HIGHER(a, b) ((a) > (b) -> (a) : (b))

/* Chooses the incarnation: that to which somebody is raised; otherwise a new one, above all others. */
inline choose(c) {
  d_step {
    to = HIGHER(was_own[OF(c, 0)], was_own[OF(c, 1)]) + c;
#ifndef NEW_INCARNATION
    if :: was_raised[OF(c, 0)] -> to = was_own[OF(c, 0)] :: else fi;
    if :: was_raised[OF(c, 1)] && was_own[OF(c, 1)] > FIRST -> to = was_own[OF(c, 1)] :: else fi
#endif
  }
}

/* Claims are numbered 4, 5, ... by rounds of four; the last digit is the restorer's. */
inline choose_number(c) {
  d_step { number[c] = (HIGHER(was_promised[OF(c, 0)], was_promised[OF(c, 1)]) / 4 + 1) * 4 + c }
}

proctype restorer(byte c) {
  byte to;
again:
  (c == 1 || AT_ONCE || over[1]);
  (ask[OF(c, 0)] == NOTHING && ask[OF(c, 1)] == NOTHING);   /* what 1 asks may come late, which suffices */
  claim_sent[OF(c, 0)] = 0; claim_sent[OF(c, 1)] = 0;
  d_step { look(c, 0) } d_step { look(c, 1) }
  if
  :: was_raised[OF(c, 0)] && was_raised[OF(c, 1)] && was[OF(c, 0)] == none && was[OF(c, 1)] == none &&
     was_own[OF(c, 0)] == was_own[OF(c, 1)] -> goto well
  :: !ONE_SET(c) -> assert(!BEGUN(c) || ENDER && LEASES); goto bye     /* no set: 8 */
  :: else
  fi;
#ifndef NO_CLAIM
  choose_number(c);
  begin(CLAIM);
  if
#ifdef HALF_CLAIMED
  :: done[OF(c, 0)] || done[OF(c, 1)]
#else
  :: ALL_DONE
#endif
  :: REFUSED -> assert(MORTAL || ENDER || promised[0] > number[c] || promised[1] > number[c]); goto bye
  :: MORTAL -> goto bye
  fi;
  if
  :: !ONE_SET(c) -> goto bye
  :: else
  fi;
#endif
  choose(c);
  begin(RAISE + to);
  if
  :: ALL_DONE
  :: REFUSED -> assert(MORTAL || ENDER && LEASES || promised[0] > number[c] || promised[1] > number[c]); goto bye
  :: MORTAL -> goto bye
  fi;
  begin(END);
  if
#ifdef ENDS_ONE
  :: done[OF(c, 0)] || done[OF(c, 1)]
#endif
  :: ALL_DONE
  :: MORTAL -> goto bye
  fi;
well: skip;
  d_step {
    assert(raised[0] && raised[1] && own[0] == own[1]);
    assert(state[0] == none && state[1] == none);
    assert(told == 0 || told == own[0]);
    told = own[0] };
bye: if
  :: c == 1 -> d_step { over[c] = 1; forget(c, 0); forget(c, 1) }
  :: else -> end_called_again: (told == 0 && (raised[0] || raised[1])); goto again
  fi
}

/* `hold end`. */
proctype ender() {
  byte c;
  d_step { look(0, 0) } d_step { look(0, 1) }
  if
  :: was_claimed[0] || was_claimed[1] || BEGUN(0) -> goto bye         /* restore_begun(): 4 */
  :: else
  fi;
  begin(END);
  if
  :: ALL_DONE
  :: REFUSED                                                          /* 4 */
  :: true                                                             /* killed */
  fi;
bye: skip;
  d_step { over[0] = 1; forget(0, 0); forget(0, 1) }
}

proctype at_the_end() {
end_wait: timeout ->
  assert(state[0] != parked && state[1] != parked || !LEASES);
  assert(!(raised[0] || raised[1]) || ENDER && LEASES || told > 0)
}

init {
  atomic {
    state[0] = parked; state[1] = parked; held[0] = 1; held[1] = 1; own[0] = FIRST; own[1] = FIRST;
    run member(0); run member(1); run restorer(1); run restorer(2);
    if :: ENDER -> run ender() :: else -> over[0] = 1 fi;
    run at_the_end()
  }
}
