/* The order saga of tests/checker/money_saga.py for Spin: -DORDERS= -DATTEMPTS= -DCRASHES=
   step: 0 reserve, 1 charge, 2 ship, 3 refund, 4 done, 5 refunded, 6 cancelled, 7 stuck
   worker: 0 idle, 1 has reduced the answer, 2 has acted
   answer: 0 none, 1 ok, 2 failed, 3 ok but lost */

byte step[ORDERS];
byte attempt[ORDERS];
bool owed[ORDERS] = true;
byte worker[ORDERS];
byte answer[ORDERS];
bool stale[ORDERS];
bool charged[ORDERS];
bool shipped[ORDERS];
bool refunded[ORDERS];
byte crashes;

#define ME _pid
#define SOUND assert((charged[ME] || !refunded[ME]) \
    && (step[ME] != 4 || (charged[ME] && shipped[ME] && !refunded[ME])) \
    && (step[ME] != 5 || refunded[ME] || !charged[ME]) \
    && (step[ME] != 6 || !charged[ME]))
#define IDLE (worker[ME] == 0)
#define ACT(given) owed[ME] && IDLE -> \
    stale[ME] = stale[ME] || answer[ME] != 0; worker[ME] = 2; answer[ME] = given; \
    if \
    :: given != 2 && step[ME] == 1 -> charged[ME] = true \
    :: given != 2 && step[ME] == 2 -> shipped[ME] = true \
    :: given != 2 && step[ME] == 3 -> refunded[ME] = charged[ME] \
    :: else -> skip \
    fi

inline after_ok() {
  if
  :: step[ME] == 0 -> step[ME] = 1
  :: step[ME] == 1 -> step[ME] = 2
  :: step[ME] == 2 -> step[ME] = 4; owed[ME] = false
  :: else -> step[ME] = 5; owed[ME] = false
  fi
}

inline after_last_failure() {
  if
  :: step[ME] == 0 -> step[ME] = 6; owed[ME] = false
  :: step[ME] == 1 || step[ME] == 2 -> step[ME] = 3
  :: else -> step[ME] = 7; owed[ME] = false
  fi
}

active [ORDERS] proctype order() {
end:
  do
  :: d_step { ACT(1); SOUND }
  :: d_step { ACT(2); SOUND }
  :: d_step { ACT(3); SOUND }
  :: d_step { worker[ME] == 2 -> owed[ME] = false; worker[ME] = 0 }
  :: d_step { IDLE && answer[ME] != 0 -> worker[ME] = 1 }
  :: d_step { worker[ME] == 1 ->
       owed[ME] = true;
       if
       :: answer[ME] == 1 -> attempt[ME] = 0; after_ok()
       :: answer[ME] != 1 && attempt[ME] + 1 < ATTEMPTS -> attempt[ME] = attempt[ME] + 1
       :: else -> attempt[ME] = 0; after_last_failure()
       fi;
       worker[ME] = 0; answer[ME] = 0; stale[ME] = true; SOUND }
  :: d_step { stale[ME] && IDLE -> stale[ME] = false }
  od
}

#if CRASHES > 0
active proctype process() {
  byte n;
end:
  do
  :: d_step { crashes < CRASHES && (worker[0] != 0
#if ORDERS > 1
       || worker[1] != 0
#endif
#if ORDERS > 2
       || worker[2] != 0
#endif
       ) ->
       for (n : 0 .. ORDERS - 1) { worker[n] = 0 }
       n = 0; crashes++ }
  od
}
#endif
