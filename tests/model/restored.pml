/* SPDX-License-Identifier: BSD-3-Clause */
/* restored.pml -- a hold that was restored: two members that are parked by one hold and sealed, commands that claim,
 * raise and end, and leases (docs/HOLD.md, "After a restore"). How they came to be parked is in hold.pml.
 *
 * What stands for what: member() is Hold (core/switch/hold.cc): end(), claim(), restore(), watch(), and meets(), with
 *   Fence::meet(). restorer() is HoldMachine of `job restored` (control/ladder/hold_restored.cc): misfit(),
 *   choose_incarnation(), claim, raise, end. ender() is `hold end`: restore_begun(), end.
 * Restorers: 1 may be killed at any step; 2 begins at any time after 1 has ended or was killed, is not killed, and is
 *   called again while some are raised. What 1 has asked may still arrive then, or not at all; a claim also repeatedly.
 *   Two at the same time (-DAT_ONCE) are not safe: each may raise to a number of its own. docs/HOLD.md says so.
 * A lease may run out at any time (-DLEASES=1); with -DENDER=1 there is a `hold end` at the same time, which may be
 *   killed.
 * Shown: a restorer that reports "all go on" does so while all are raised to one incarnation and send, and afterwards
 *   nobody is raised to another, or fenced out; if anybody is raised, the next restorer brings all to that incarnation,
 *   whatever leases have run out meanwhile (without a `hold end`), and is refused by nobody; nobody that is not raised
 *   has been let go by a `hold end` where another is (while leases last); and where nothing more can happen no lease is
 *   left to park anybody.
 * Mutants: -DNO_CLAIM (a restorer raises without a claim), -DENDS_CLAIMED (a member's hold ends although it is
 *   claimed), -DHALF_CLAIMED (a restorer raises when one is claimed), -DNEW_NUMBER (the second restorer takes a number of its own
 *   although some are raised), -DKEEPS_OUT (a member that was fenced out is not raised), -DWANTS_ALL_PARKED (what is
 *   half raised has to be parked still), -DLATE_BINDS (a late claim binds also who is raised), -DENDS_ONE (a restorer
 *   reports when one sends).
 * Run: tests/model/run_restored.sh
 */
#ifndef LEASES
#define LEASES 1
#endif
#ifndef ENDER
#define ENDER 0
#endif
#define N 2
#define FIRST 1   /* the incarnation of a job that was held */

mtype = { none, parked, broken, fenced };   /* HoldState */

mtype state[N];
bit held[N];      /* its id is that of the hold */
bit claimed[N], raised[N], let_go[N];
byte own[N];      /* incarnation */
/* What a restorer has asked, and has been answered: of 1 and 2. */
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

inline claim(c) {
  ask[OF(c, i)] = NOTHING;
  if
  :: !held[i] || state[i] != parked -> answer(c, !raised[i])
  :: else -> claimed[i] = !raised[i]; answer(c, 0)
  fi
}

#define TO(c) (ask[OF(c, i)] - RAISE)
inline raise(c) {
  if
  :: raised[i] && own[i] == TO(c) -> answer(c, 0)
#ifdef KEEPS_OUT
  :: state[i] == fenced -> answer(c, 1)
#endif
  :: else ->
     if
     :: TO(c) <= own[i] || !held[i] -> answer(c, 1)
     :: else ->
        assert(told == 0 || told == TO(c));
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
/* What a restorer has asked that is killed may also not arrive. */
inline takes(c) {
  if
  :: d_step { ask[OF(c, i)] == END -> end_hold(c) }
  :: d_step { ask[OF(c, i)] == CLAIM -> claim(c) }
  :: d_step { ask[OF(c, i)] >= RAISE -> raise(c) }
  :: d_step { over[c] && ask[OF(c, i)] != NOTHING -> ask[OF(c, i)] = NOTHING }
  :: d_step { claim_sent[OF(c, i)] && held[i] && state[i] == parked && claimed[i] != LATE_CLAIM ->
       claimed[i] = LATE_CLAIM }
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

/* How a member stands, as a command finds it: each at a time of its own. */
inline look(j) {
  d_step { was[j] = state[j]; was_raised[j] = raised[j]; was_held[j] = held[j]; was_own[j] = own[j];
    was_claimed[j] = claimed[j] }
}
#define BEGUN (was_raised[0] || was_raised[1])
#ifdef WANTS_ALL_PARKED
#define FITS(j) (was[j] == parked)
#else
#define FITS(j) (was_raised[j] || was_held[j])
#endif

proctype restorer(byte c) {
  mtype was[N]; bit was_raised[N], was_held[N], was_claimed[N]; byte was_own[N], to; bit claims;
#ifndef AT_ONCE
  (c == 1 || over[1]);
#endif
again:
  look(0); look(1);
  atomic {
    to = (was_own[0] > was_own[1] -> was_own[0] : was_own[1]);
    claims = !(BEGUN);
    if
#ifdef NEW_NUMBER
    :: to++
#else
    :: !BEGUN -> to++
    :: BEGUN -> to = 0;   /* the highest to which anybody was raised */
       if :: was_raised[0] -> to = was_own[0] :: else fi;
       if :: was_raised[1] && was_own[1] > to -> to = was_own[1] :: else fi
#endif
    fi;
#ifdef AT_ONCE
    if :: claims && c == 2 -> to++ :: else fi
#endif
    }
  if
  :: was_raised[0] && was_raised[1] && was[0] == none && was[1] == none && was_own[0] == was_own[1] -> goto well
  :: !BEGUN && (was[0] != parked || was[1] != parked) -> goto bye     /* no set: 8 */
  :: BEGUN && !(FITS(0) && FITS(1)) -> assert(ENDER && LEASES); goto bye
  :: else
  fi;
#ifndef NO_CLAIM
  if
  :: claims ->
     begin(CLAIM);
     if
#ifdef HALF_CLAIMED
     :: done[OF(c, 0)] || done[OF(c, 1)]
#else
     :: ALL_DONE
#endif
     :: REFUSED -> goto bye
     :: MORTAL -> goto bye
     fi
  :: else
  fi;
#endif
  begin(RAISE + to);
  if
  :: ALL_DONE
  :: REFUSED -> assert(MORTAL || ENDER && LEASES); goto bye
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
  :: c == 1 -> over[c] = 1
  :: else -> end_called_again: (told == 0 && (raised[0] || raised[1])); goto again
  fi
}

/* `hold end`. */
proctype ender() {
  mtype was[N]; bit was_raised[N], was_held[N], was_claimed[N]; byte was_own[N], c;
  look(0); look(1);
  if
  :: was_claimed[0] || was_claimed[1] || BEGUN -> goto bye            /* restore_begun(): 4 */
  :: else
  fi;
  begin(END);
  if
  :: ALL_DONE
  :: REFUSED                                                          /* 4 */
  :: true                                                             /* killed */
  fi;
bye: over[0] = 1
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
