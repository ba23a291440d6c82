/* SPDX-License-Identifier: BSD-3-Clause
 * ladder.pml -- the switch protocol of docs/SWITCH.md, for spin. run_ladder.sh checks it, and that
 * each mutant below is caught.
 *
 * A member's rung:  0 OLD    receives on old        sends on old
 *                   1 JOINT  receives on old, new   sends on old
 *                   2 NEWTX  receives on old, new   sends on new
 *                   3 NEW    receives on new        sends on new
 * Soup: every order of every term can be delivered at any time, any number of times, or never.
 * Answers are read where they are written: if one arrives late, the coordinator only acts later.
 * Asserted: no order skips a rung, no frame is sent to, or in flight towards, a closed transport,
 * nothing goes down from NEW. Frames: at most one in flight for each member.
 *
 * N members, the last JOINERS of which join while it runs; T coordinators, each with its own term,
 * that may stop at any step; S orders per coordinator; at most REFUSALS refusals, LOSSES losses.
 * Mutants, by -D: FENCE=0 PROMISE=0 DRAIN=0 ACKALL=0 RETRACT=2 COMMIT=0 FAILOVER=1 REFUSAL=0 JOIN=0
 * RESCAN=0. -DREACH: "all reach NEW" as an error to be found.
 */
#ifndef N
#define N 3
#endif
#ifndef JOINERS
#define JOINERS 1
#endif
#ifndef T
#define T 2
#endif
#ifndef S
#define S 4
#endif
#ifndef REFUSALS
#define REFUSALS 1
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef SENDERS
#define SENDERS N    /* how many members, from the first on, send data */
#endif
#ifndef FENCE
#define FENCE 1      /* 0: orders of another term are taken whether newer or older */
#endif
#ifndef PROMISE
#define PROMISE 1    /* 0: a coordinator orders without having asked where members stand */
#endif
#ifndef DRAIN
#define DRAIN 1      /* 0: acknowledges with its own frames in flight on the transport left */
#endif
#ifndef ACKALL
#define ACKALL 1     /* 0: one acknowledgement is enough for the next order */
#endif
#ifndef RETRACT
#define RETRACT 1    /* 2: retracts two rungs without acknowledgements */
#endif
#ifndef COMMIT
#define COMMIT 1     /* 0: the order to NEW is retracted like any other */
#endif
#ifndef FAILOVER
#define FAILOVER 0   /* 1: when new breaks after NEWTX, sends on old again without an order */
#endif
#ifndef REFUSAL
#define REFUSAL 1    /* 0: a member that refuses an order acknowledges it nevertheless */
#endif
#ifndef JOIN
#define JOIN 1       /* 0: a process joins without asking where the job stands */
#endif
#ifndef RESCAN
#define RESCAN 1     /* 0: newly appeared members are not looked for before an order */
#endif

byte st[N];          /* rung */
byte tmax[N];        /* highest term promised or followed */
byte mseq[N];        /* last order taken of that term */
bit refused[N];      /* that order was refused: the member stays where it was */
bit lost[N];         /* at NEWTX: the new path is broken */
bit visible[N];      /* a scan finds it */
bit joined[N];       /* it has the job's standing */
bit und[N];          /* its last order went down */
byte fly_to[N];      /* own frame in flight: 0 none, else receiver + 1 */
bit fly_x[N];        /* on: 0 old, 1 new */

byte orders[T + 1];              /* orders given so far by a term's coordinator */
byte rung[(T + 1) * (S + 1)];    /* the rung to which each of them is */
bit odown[(T + 1) * (S + 1)];    /* is it on the way back? */
bit asked[T + 1];
byte prom[(T + 1) * N];          /* promise: rung + 1, and 4 if its last order went down */
byte ackd[(T + 1) * N];          /* last order acknowledged */
byte refusals = REFUSALS;
byte losses = LOSSES;

#define RUNG(t, s) rung[(t) * (S + 1) + (s)]
#define OPEN(j, x) ((x) == 0 -> st[j] <= 2 : st[j] >= 1)
#define SENDX(i) (st[i] >= 2 && !(FAILOVER && lost[i]) -> 1 : 0)
#define MAYSEND(i) (!lost[i] || FAILOVER)

#if FENCE
#if PROMISE
#define TAKES(i, t, s) (t == tmax[i] && s > mseq[i])
#else
#define TAKES(i, t, s) (t > tmax[i] || (t == tmax[i] && s > mseq[i]))
#endif
#else
#define TAKES(i, t, s) (t != tmax[i] || s > mseq[i])
#endif

/* Takes order s of term t. */
inline take(i, t, s) {
  assert(RUNG(t, s) <= st[i] + 1 && st[i] <= RUNG(t, s) + 1);
  assert(!(st[i] == 3 && RUNG(t, s) < 3));
  tmax[i] = t; mseq[i] = s;
  if
  :: RUNG(t, s) == 1 && st[i] == 0 && refusals > 0 -> refusals--; refused[i] = 1
  :: refused[i] = 0; st[i] = RUNG(t, s); und[i] = odown[(t) * (S + 1) + (s)];
     if :: st[i] != 2 -> lost[i] = 0 :: else fi
  fi;
  j = 0;
  do
  :: j < N ->
     assert(!(fly_to[j] == i + 1 && !OPEN(i, fly_x[j])));
     j++
  :: j >= N -> break
  od;
  j = 0
}

proctype member(byte i) {
  byte t, s, j;
  byte seen_t, seen_s, seen_st; bit seen_r, seen_u;
  if
  :: i >= N - JOINERS ->
end_hidden: visible[i] = 1;
     atomic {                                   /* asks a member that has joined ... */
#if JOIN
       do :: j < N - JOINERS - 1 -> j++ :: break od;
       seen_t = tmax[j]; seen_s = mseq[j]; seen_st = st[j]; seen_r = refused[j];
       seen_u = und[j]; j = 0
#else
       skip
#endif
     }
     atomic {                                   /* ... and has the answer, perhaps much later */
       tmax[i] = seen_t; mseq[i] = seen_s; st[i] = seen_st; refused[i] = seen_r;
       und[i] = seen_u; seen_u = 0; joined[i] = 1;
       seen_t = 0; seen_s = 0; seen_st = 0; seen_r = 0
     }
  :: else
  fi;
end: do
  :: atomic { t = 1; do :: t < T -> t++ :: break od;       /* an order arrives */
       s = 1; do :: s < orders[t] -> s++ :: break od;
       if :: s <= orders[t] && TAKES(i, t, s) -> take(i, t, s) :: else fi;
       t = 0; s = 0 }
  :: atomic { t = 1; do :: t < T -> t++ :: break od;       /* a request for a promise arrives */
       if
       :: asked[t] && t >= tmax[i] && prom[t * N + i] == 0 ->
          if :: t > tmax[i] -> tmax[i] = t; mseq[i] = 0; refused[i] = 0 :: else fi;
          prom[t * N + i] = st[i] + 1 + 4 * und[i]
       :: else
       fi;
       t = 0 }
  :: d_step { (mseq[i] > ackd[tmax[i] * N + i]             /* the rung is reached */
       && !(REFUSAL && refused[i])
       && !(lost[i] && st[i] == 2)
#if DRAIN
       && (fly_to[i] == 0 || fly_x[i] == SENDX(i))
#endif
       ) -> ackd[tmax[i] * N + i] = mseq[i] }
  :: atomic { (i < SENDERS && fly_to[i] == 0 && MAYSEND(i)) ->   /* sends a frame */
       j = 0; do :: j < N - 1 -> j++ :: break od;
       if
       :: j != i && joined[j] -> assert(OPEN(j, SENDX(i))); fly_to[i] = j + 1; fly_x[i] = SENDX(i)
       :: else
       fi;
       j = 0 }
  :: d_step { fly_to[i] != 0 -> assert(OPEN(fly_to[i] - 1, fly_x[i])); fly_to[i] = 0; fly_x[i] = 0 }
  :: d_step { (st[i] == 2 && losses > 0 && !lost[i]) ->    /* new breaks: its frame is in the window */
       losses--; lost[i] = 1;
       if :: fly_x[i] == 1 -> fly_to[i] = 0; fly_x[i] = 0 :: else fi }
  :: d_step { lost[i] -> lost[i] = 0 }                     /* ... and has reconnected */
  od
}

#define HAS(i) ((known >> (i)) & 1)
#define DID(i) (!HAS(i) || ackd[t * N + i] == orders[t])
#define STOOD(i) ((prom[t * N + i] - 1) & 3)
#define SAID(i) (!HAS(i) || prom[t * N + i] > 0)
#if ACKALL
#define ALL_DID (DID(0) && DID(1) && (N < 3 || DID(2 % N)) && (N < 4 || DID(3 % N)))
#else
#define ALL_DID (ackd[t * N] == orders[t] || ackd[t * N + 1] == orders[t])
#endif
#define ALL_SAID (SAID(0) && SAID(1) && (N < 3 || SAID(2 % N)) && (N < 4 || SAID(3 % N)))

inline scan() {
  i = 0;
  do :: i < N -> if :: visible[i] -> known = known | (1 << i) :: else fi; i++ :: i >= N -> break od;
  i = 0
}

inline give(g) {
  orders[t]++; RUNG(t, orders[t]) = g; odown[t * (S + 1) + orders[t]] = down
}

proctype coordinator(byte t) {
  byte i, known, lo, hi, g;
  bit back;             /* somebody stands where a ladder was being taken back */
  bit down;             /* this ladder is being taken back */
  bit may;              /* the last order may be retracted */
  atomic { asked[t] = 1; scan() }
#if PROMISE
end_ask: atomic { ALL_SAID ->
#if RESCAN
       scan()
#endif
     }
end_again: atomic { ALL_SAID ->
    lo = 3; hi = 0; i = 0;
    do
    :: i < N ->
       if :: HAS(i) && STOOD(i) < lo -> lo = STOOD(i) :: else fi;
       if :: HAS(i) && STOOD(i) > hi -> hi = STOOD(i) :: else fi;
       if :: HAS(i) && prom[t * N + i] > 4 -> back = 1 :: else fi;
       i++
    :: i >= N -> break
    od;
    assert(hi <= lo + 1);
    if
    :: hi == 3 -> g = 3                                     /* committed: only upwards */
    :: hi < 2 && back -> g = lo; down = 1                   /* was being taken back: goes on down */
    :: hi < 2 && !back || hi == 2 -> g = hi; may = (hi > 0) /* resume: all have acknowledged the rung below */
    :: hi < 2 && !back || hi == 2 ->                        /* abort */
       g = (hi > 0 -> hi - 1 : 0); down = 1
    fi;
    give(g); i = 0; lo = 0; hi = 0; back = 0
  }
#else
  atomic { g = 0; if :: t > 1 && orders[t - 1] > 0 -> g = RUNG(t - 1, orders[t - 1]) :: else fi;
    give(g) }
#endif
end_rung: do
  :: atomic { (ALL_DID && orders[t] < S && g < 3) ->
#if RESCAN
       scan()
#endif
     }
end_more: atomic { ALL_DID ->
       if
       :: !down -> g++; give(g); may = 1
       :: g > 0 -> g--; down = 1; give(g); may = 0          /* all have acknowledged: may go down */
       :: else -> break
       fi }
  :: atomic { (may && orders[t] < S && g >= RETRACT && (g < 3 || !COMMIT)) ->
       g = g - RETRACT; down = 1; give(g); may = 0 }        /* without acknowledgements, once */
  :: break                                                  /* crash */
  od
}

#ifdef REACH
proctype watch() {
end_watch: atomic { (st[0] == 3 && st[1] == 3 && st[N - 1] == 3 && ackd[N * tmax[0]] > 0) ->
    assert(false) }
}
#endif

init {
  byte i;
  atomic {
    do
    :: i < N ->
       if :: i < N - JOINERS -> visible[i] = 1; joined[i] = 1 :: else fi;
       run member(i); i++
    :: i >= N -> break
    od;
    i = 1;
    do :: i <= T -> run coordinator(i); i++ :: i > T -> break od;
#ifdef REACH
    run watch();
#endif
    i = 0
  }
}
