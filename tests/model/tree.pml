/* SPDX-License-Identifier: BSD-3-Clause
 * tree.pml -- the ladder of docs/SWITCH.md when members' answers reach a coordinator through relays, for spin.
 * run_tree.sh checks it, and that each mutant below is caught.
 *
 * A tree of two levels: members tell their node's relay, relays tell the first relay, and that one tells the
 * coordinator, each all that it has at once. Each keeps the newest standing of each member, by (term, seq), which only
 * rises. A relay may die at any time and forgets everything; its successor is told anew. Delay: each of these steps
 * happens at any time. Repetition: what is told again is not newer, and changes nothing; what is told late is as if it
 * had been told early and acted on late. Orders: as in ladder.pml, each can come at any time, any number of times, or
 * never. Asserted: members stand within one rung, no order skips a rung, and nothing goes down from NEW.
 *
 * N members on NODES nodes; T coordinators, each with its own term, that may stop at any step; S orders each.
 * Mutants, by -D: SILENT=1 TERMS=1 OLD=1 FENCE=0 ACKALL=0. -DREACH: "all reach NEW" as an error to be found.
 */
#ifndef N
#define N 6
#endif
#ifndef NODES
#define NODES 3
#endif
#ifndef T
#define T 1
#endif
#ifndef S
#define S 4
#endif
#ifndef DIES
#define DIES 1       /* this many relays keep what they heard, and die; the others tell what holds when they tell it */
#endif
#ifndef SILENT
#define SILENT 0     /* 1: a relay reports the standing that it heard from one of its members for all of them */
#endif
#ifndef TERMS
#define TERMS 0      /* 1: a relay passes on what was said to an older term as said to the newest */
#endif
#ifndef OLD
#define OLD 0        /* 1: a relay repeats the answer to an older order as the answer to the newest */
#endif
#ifndef FENCE
#define FENCE 1      /* 0: orders of an older term are taken */
#endif
#ifndef ACKALL
#define ACKALL 1     /* 0: answers from the members of one node suffice for the next order */
#endif

#define PER (N / NODES)
/* A standing: term, seq, rung, and whether the last order went down. */
#define SAYS(t, s, r, d) ((((t) * (S + 1) + (s)) * 4 + (r)) * 2 + (d))
#define SAID(i) SAYS(tmax[i], mseq[i], st[i], und[i])
#define TERM(v) ((v) / (8 * (S + 1)))
#define SEQ(v) (((v) / 8) % (S + 1))
#define STOOD(v) (((v) / 2) & 3)
#define HAS(i) ((i) / PER < DIES -> rel[i] : (tmax[i] > 0 -> SAID(i) : 0))
#define NEWER(v, w) ((v) / 8 > (w) / 8)

byte st[N];          /* rung */
byte tmax[N];        /* highest term promised or followed */
byte mseq[N];        /* last order taken of that term */
bit und[N];          /* it went down */
byte rel[N];         /* newest standing of each member at its node's relay; 0: none */
byte coo[(T + 1) * N];           /* ... at each coordinator, through the first relay */
byte orders[T + 1];              /* orders given so far by a term's coordinator */
byte rung[(T + 1) * (S + 1)];    /* the rung to which each of them is */
bit odown[(T + 1) * (S + 1)];    /* is it on the way back? */
bit asked[T + 1];

#define RUNG(t, s) rung[(t) * (S + 1) + (s)]
#if FENCE
#define TAKES(i, t, s) (t == tmax[i] && s > mseq[i])
#else
#define TAKES(i, t, s) (t != tmax[i] || s > mseq[i])
#endif

inline check_apart(i, j) {
  j = 0;
  do
  :: j < N -> assert(st[j] <= st[i] + 1 && st[i] <= st[j] + 1); j++
  :: else -> break
  od;
  j = 0
}

proctype member(byte i) {
  byte t, s, j;
end: do
  :: atomic { t = 1; do :: t < T -> t++ :: break od;       /* an order arrives */
       s = 1; do :: s < orders[t] -> s++ :: break od;
       if
       :: s <= orders[t] && TAKES(i, t, s) ->
          assert(RUNG(t, s) <= st[i] + 1 && st[i] <= RUNG(t, s) + 1);
          assert(!(st[i] == 3 && RUNG(t, s) < 3));
          tmax[i] = t; mseq[i] = s; st[i] = RUNG(t, s); und[i] = odown[t * (S + 1) + s];
          check_apart(i, j)
       :: else
       fi;
       t = 0; s = 0 }
  :: d_step { (T > 1 && tmax[i] < T && asked[T]) -> tmax[i] = T; mseq[i] = 0 }    /* promises */
  :: d_step { (tmax[i] < 1 && asked[1]) -> tmax[i] = 1; mseq[i] = 0 }
  :: d_step { i / PER < DIES && rel[i] != SAID(i) && tmax[i] > 0 -> rel[i] = SAID(i) }  /* tells its relay */
  od
}

#if TERMS
#define AS_TOLD(v) (TERM(v) > 0 && TERM(v) < newest -> SAYS(newest, SEQ(v), STOOD(v), (v) & 1) : (v))
#elif OLD
#define AS_TOLD(v) (TERM(v) > 0 && SEQ(v) > 0 && SEQ(v) < orders[TERM(v)] -> \
  SAYS(TERM(v), orders[TERM(v)], STOOD(v), (v) & 1) : (v))
#elif SILENT
#define AS_TOLD(v) (NEWER(newest, v) -> newest : (v))
#else
#define AS_TOLD(v) (v)
#endif

/* The mutants' change to a standing needs the newest term, or standing, of the node. */
inline look(n) {
#if TERMS || SILENT
  newest = 0; j = n * PER;
  do
  :: j < (n + 1) * PER ->
#if TERMS
     if :: TERM(HAS(j)) > newest -> newest = TERM(HAS(j)) :: else fi;
#else
     if :: NEWER(HAS(j), newest) -> newest = HAS(j) :: else fi;
#endif
     j++
  :: else -> break
  od;
#endif
  j = 0
}

proctype relay(byte n) {
  byte t, j, v, newest;
end: do
  :: d_step { look(n);                                     /* tells, through the first relay */
       t = 1;
       do
       :: t <= T ->
          j = n * PER;
          do
          :: j < (n + 1) * PER ->
             v = AS_TOLD(HAS(j));
             if :: NEWER(v, coo[t * N + j]) && asked[t] -> coo[t * N + j] = v :: else fi;
             j++
          :: else -> break
          od;
          t++
       :: else -> break
       od;
       t = 0; j = 0; v = 0; newest = 0 }
  :: d_step { n < DIES -> j = n * PER;                     /* dies; another one begins */
       do :: j < (n + 1) * PER -> rel[j] = 0; j++ :: else -> break od;
       j = 0 }
  od
}

#define KNOWN(i) coo[t * N + (i)]
#define SAID_SO(i) (TERM(KNOWN(i)) == t)
#define DID(i) (SAID_SO(i) && SEQ(KNOWN(i)) == orders[t])
#define EACH(P) (P(0) && P(1 % N) && P(2 % N) && P(3 % N) && P(4 % N) && P(5 % N))
#if ACKALL
#define ALL_DID EACH(DID)
#else
#define ALL_DID (DID(0) && DID(PER - 1))
#endif

inline give(g) {
  orders[t]++; RUNG(t, orders[t]) = g; odown[t * (S + 1) + orders[t]] = down
}

proctype coordinator(byte t) {
  byte i, lo, hi, g;
  bit back, down, may;  /* as in ladder.pml */
  asked[t] = 1;
end_ask: do
  :: atomic { EACH(SAID_SO) ->
       lo = 3; i = 0;
       do
       :: i < N ->
          if :: STOOD(KNOWN(i)) < lo -> lo = STOOD(KNOWN(i)) :: else fi;
          if :: STOOD(KNOWN(i)) > hi -> hi = STOOD(KNOWN(i)) :: else fi;
          back = back | (KNOWN(i) & 1); i++
       :: else -> break
       od;
       assert(hi <= lo + 1);
       if
       :: hi == 3 -> g = 3
       :: hi < 2 && back -> g = lo; down = 1
       :: hi == 0 && !back -> g = 1; may = 1                /* all at the foot: begins */
       :: hi < 2 && hi > 0 && !back || hi == 2 -> g = hi; may = 1
       :: hi < 2 && !back || hi == 2 -> g = (hi > 0 -> hi - 1 : 0); down = 1
       fi;
       give(g); i = 0; lo = 0; hi = 0; back = 0;
       break }
  od;
end_rung: do
  :: atomic { (orders[t] < S && ALL_DID) ->
       if
       :: !down && g < 3 -> g++; give(g); may = 1
       :: g > 0 && g < 3 -> g--; down = 1; give(g); may = 0
       :: else -> break
       fi }
  :: atomic { (may && orders[t] < S && g >= 1 && g < 3) ->
       g = g - 1; down = 1; give(g); may = 0 }
  :: break                                                 /* crash */
  od
}

#ifdef REACH
proctype watch() {
end_watch: atomic { (st[0] == 3 && st[N - 1] == 3) -> assert(false) }
}
#endif

init {
  byte i;
  atomic {
    do :: i < N -> run member(i); i++ :: else -> break od;
    i = 0;
    do :: i < NODES -> run relay(i); i++ :: else -> break od;
    i = 1;
    do :: i <= T -> run coordinator(i); i++ :: else -> break od;
#ifdef REACH
    run watch();
#endif
    i = 0
  }
}
