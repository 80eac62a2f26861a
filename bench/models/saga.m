-- The order saga of tests/checker/money_saga.py for rumur; the first line is put before it:
-- const ORDERS: …; ATTEMPTS: …; CRASHES: …;
-- Steps, workers and answers are numbered as in saga.pml.
type
  order: 0..ORDERS - 1;
  life: record
    step: 0..7; attempt: 0..3; owed: boolean; worker: 0..2; answer: 0..3;
    stale: boolean; charged: boolean; shipped: boolean; refunded: boolean;
  end;
var
  all: array[order] of life;
  crashes: 0..3;

startstate begin
  for n: order do
    all[n].step := 0; all[n].attempt := 0; all[n].owed := true;
    all[n].worker := 0; all[n].answer := 0; all[n].stale := false;
    all[n].charged := false; all[n].shipped := false; all[n].refunded := false;
  end;
  crashes := 0;
end;

ruleset n: order do alias o: all[n] do
  ruleset given: 1..3 do
    rule "acts" o.owed & o.worker = 0 ==> begin
      if o.answer != 0 then o.stale := true; end;
      o.worker := 2; o.answer := given;
      if given != 2 then
        if o.step = 1 then o.charged := true;
        elsif o.step = 2 then o.shipped := true;
        elsif o.step = 3 then o.refunded := o.charged; end;
      end;
    end;
  end;
  rule "clears its row" o.worker = 2 ==> begin o.owed := false; o.worker := 0; end;
  rule "takes the answer" o.worker = 0 & o.answer != 0 ==> begin o.worker := 1; end;
  rule "stores the step" o.worker = 1 ==> begin
    o.owed := true;
    if o.answer = 1 then
      o.attempt := 0;
      if o.step = 0 then o.step := 1;
      elsif o.step = 1 then o.step := 2;
      elsif o.step = 2 then o.step := 4; o.owed := false;
      else o.step := 5; o.owed := false; end;
    elsif o.attempt + 1 < ATTEMPTS then
      o.attempt := o.attempt + 1;
    else
      o.attempt := 0;
      if o.step = 0 then o.step := 6; o.owed := false;
      elsif o.step = 1 | o.step = 2 then o.step := 3;
      else o.step := 7; o.owed := false; end;
    end;
    o.worker := 0; o.answer := 0; o.stale := true;
  end;
  rule "drops a stale copy" o.stale & o.worker = 0 ==> begin o.stale := false; end;
end; end;

rule "the process crashes"
  crashes < CRASHES & exists n: order do all[n].worker != 0 end ==>
begin
  for n: order do all[n].worker := 0; end;
  crashes := crashes + 1;
end;

invariant "no order is done without its money"
  forall n: order do
    (all[n].charged | !all[n].refunded)
    & (all[n].step != 4 | (all[n].charged & all[n].shipped & !all[n].refunded))
    & (all[n].step != 5 | all[n].refunded | !all[n].charged)
    & (all[n].step != 6 | !all[n].charged)
  end;
