/* SPDX-License-Identifier: BSD-3-Clause */
/* biased_lock.pml -- core/engine/biased_lock.cc under TSO: an owner, an agent, and a second application thread.
 *
 * Shown: never two inside; no application thread is inside, after an agent that watches for it, before it has reported
 *   its entry; nobody sleeps for ever (an end state in which a thread has not finished is an error).
 * Store buffers: the owner's two plain stores to inside_ go through an explicit FIFO that drains at any time. All other
 *   writes in the code are locked instructions, or are made just before a system call that begins with a full barrier;
 *   they are one atomic step here, after the writer's own buffer has drained.
 * membarrier: drains every buffer. futex_wait: compares and falls asleep in one step. futex_wake: drains the caller's
 *   buffer, then wakes. Sleepers may also wake spuriously, which the code allows for: not modelled, as it only helps.
 * Mutants: -DNO_MEMBARRIER (the revoker does not drain the owner's buffer), -DNO_WAKE (the owner leaves without
 *   waking), -DNO_TURN_RESET (an application thread keeps the turn it has used), -DWATCH_UNSEEN (the owner's fast path
 *   does not see that it is watched), -DKEPT_OUT (an agent assumes that the owner is kept out although it was not
 *   watched).
 * Not modelled: fork.
 * Run: tests/model/run_biased_lock.sh
 */

#ifndef ROUNDS
#define ROUNDS 2
#endif

bool inside;            /* inside_, in memory */
byte agents;            /* wanted_: low bits */
bool revoked;           /* wanted_: top bit */
bool watched;           /* wanted_: the bit below */
bool mutex;             /* mutex_ */
bool turn;              /* application_first_ */
byte applications;      /* applications_waiting_ */
byte owner;             /* owner_: 0 nobody, 1 the first application thread, 2 the second */
bool held_by_mutex;     /* holder_ != kOwner */
byte holders;           /* the invariant: at most 1 */

/* One store buffer per thread (1, 2: application threads; either may be the owner). */
chan buffer[3] = [2] of { bool };

/* Sleepers on each futex word, by thread (0: the agent). */
bool asleep_inside[3];
bool asleep_wanted[3];
bool asleep_turn[3];

#define DRAINED(t) empty(buffer[t])
#define WAKE(word) d_step { word[0] = false; word[1] = false; word[2] = false }

inline enter() { d_step { holders++; assert(holders == 1) } }
inline leave() { holders-- }

#ifdef WATCH_UNSEEN
#define WANTED (agents > 0 || revoked)
#else
#define WANTED (agents > 0 || revoked || watched)
#endif

/* entered() of an application thread, under the lock. */
inline tell_entry() { watched = false }

inline membarrier() {
#ifndef NO_MEMBARRIER
  DRAINED(1) && DRAINED(2)
#else
  skip
#endif
}

/* The code has no load by the owner of its own inside_, so no forwarding is needed. */
proctype Drain(byte t) {
  bool value;
end:
  do
  :: atomic { buffer[t]?value -> inside = value }
  od
}

inline wait_until_owner_is_out(t) {
  do
  :: !inside -> break
  :: atomic { inside -> asleep_inside[t] = true }; !asleep_inside[t]
  od
}

/* keep_owner_out() of an application thread; `out`: the owner is outside. */
inline keep_owner_out_application(t, out) {
  if
  :: atomic { !revoked && owner == 0 -> owner = t }; out = true
  :: !revoked && owner == t -> out = true
  :: else ->
     if
     :: !revoked -> revoked = true; owner = 0; membarrier()
     :: revoked
     fi;
     out = !inside
  fi
}

/* claim_for_agent(): an owner that is watched is already kept out. */
inline claim_for_agent(kept_out) {
#ifdef KEPT_OUT
  atomic { kept_out = true; agents++ }
#else
  atomic { kept_out = watched; agents++ }
#endif
}

inline keep_owner_out_agent(kept_out, out) {
  if
  :: owner != 0 && !kept_out -> membarrier()
  :: owner == 0 || kept_out
  fi;
  out = !inside
}

inline lock_slowly_application(t, out) {
  atomic { DRAINED(t) -> applications++ };
  do
  :: agents == 0 -> break
  :: atomic { agents > 0 -> asleep_wanted[t] = true }; !asleep_wanted[t]
  od;
  atomic { !mutex -> mutex = true };
  keep_owner_out_application(t, out);
  if
  :: !out -> wait_until_owner_is_out(t)
  :: out
  fi;
  held_by_mutex = true;
  tell_entry();
  applications--;
#ifndef NO_TURN_RESET
  if
  :: atomic { turn -> turn = false; WAKE(asleep_turn) }
  :: !turn
  fi
#endif
}

inline try_slowly_application(t, got) {
  got = false;
  if
  :: agents > 0
  :: agents == 0 ->
     if
     :: atomic { !mutex && DRAINED(t) -> mutex = true };
        keep_owner_out_application(t, got);
        if
        :: got -> held_by_mutex = true; tell_entry()
        :: !got -> mutex = false
        fi
     :: mutex
     fi
  fi
}

proctype Application(byte t) {
  byte round = 0;
  bool fast, out, in;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     fast = false;
     if
     :: owner == t ->
        buffer[t]!1;
        if
        :: !WANTED -> fast = true
        :: else -> buffer[t]!0; DRAINED(t); WAKE(asleep_inside)
        fi
     :: owner != t
     fi;
     in = true;
     if
     :: fast
     :: !fast -> lock_slowly_application(t, out)
     :: !fast -> try_slowly_application(t, in)
     fi;
     if
     :: in -> enter(); assert(!watched); leave()
     :: !in
     fi;
     if
     :: !in
     :: in && held_by_mutex -> held_by_mutex = false; atomic { DRAINED(t) -> mutex = false }
     :: in && !held_by_mutex ->
        buffer[t]!0;
        if
        :: !WANTED
        :: else ->
#ifndef NO_WAKE
           DRAINED(t); WAKE(asleep_inside)
#else
           skip
#endif
        fi
     fi;
     round++
  od
}

inline give_up_agent_claim() {
  agents--;
  if
  :: applications > 0 -> WAKE(asleep_wanted)
  :: applications == 0
  fi
}

inline lock_slowly_agent(kept_out, out) {
  do
  :: !turn -> break
  :: atomic { turn -> asleep_turn[0] = true }; !asleep_turn[0]
  od;
  claim_for_agent(kept_out);
  atomic { !mutex -> mutex = true };
  keep_owner_out_agent(kept_out, out);
  if
  :: !out -> wait_until_owner_is_out(0)
  :: out
  fi;
  held_by_mutex = true
}

inline try_slowly_agent(kept_out, got) {
  got = false;
  if
  :: turn
  :: !turn ->
     claim_for_agent(kept_out);
     if
     :: atomic { !mutex -> mutex = true };
        keep_owner_out_agent(kept_out, got);
        if
        :: got -> held_by_mutex = true
        :: !got -> mutex = false; give_up_agent_claim()
        fi
     :: mutex -> give_up_agent_claim()
     fi
  fi
}

proctype Agent() {
  byte round = 0;
  bool kept_out, out, in;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     in = true;
     if
     :: lock_slowly_agent(kept_out, out)
     :: try_slowly_agent(kept_out, in)
     fi;
     if
     :: in ->
        enter();
        if
        :: watched = true
        :: skip
        fi;
        leave();
        if
        :: applications > 0 -> turn = true
        :: applications == 0
        fi;
        held_by_mutex = false;
        mutex = false;
        give_up_agent_claim()
     :: !in
     fi;
     round++
  od
}

init {
  atomic {
    run Drain(1);
    run Drain(2);
    run Agent();
    run Application(1);
#ifndef ONE_APPLICATION
    run Application(2)
#endif
  }
}
