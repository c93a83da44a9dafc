# Pairs the stalls of a scene's truth with those that netstall named.
#
# Input: the report. $truth: [{from, to, queued, tid, cause}] in ms, $ran: [{from, to, ran}], $begin_ns, $until_ns; CLOCK_MONOTONIC.
# $pids: the processes of the scene, for where it was not $alone under the tracer. $makes: the cause that it is there for.
# $emulated: the machine is slow by itself.
# Output: lines `EXPECTED NAMED EXPECTED_MS NAMED_MS AT_MS`, where EXPECTED is (none) for what nobody waited for and (again)
# for a second name of one stall, and NAMED is (missed) for a stall without a name.
#
# A wait for a CPU of its own within another stall is right when the scheduler counted as much there (queued).
#
# That a thread computes is right, and no stall that the scene makes, where the scheduler counted as much in a request ($ran: the scene's
# threads in each): page faults and reclaim of an emulated machine take that long.
#
# A stall and its name are the same when they lie in the same time. Left out are what was named before the scene began and
# after it ended, and what the truth itself says to be too near to the threshold: of that both yes and no are right. On an
# emulated machine also a helper's wait until the thread that the truth follows asks it for something: what else that thread
# does is slow there, and the truth does not tell of it. And waits for a CPU where the scene makes none: there the CPUs are taken
# away in the midst of whatever a thread does, in pieces, and the truth has but one cause for all of a long step.

def overlap($a; $b): ([$a.to, $b.to] | min) - ([$a.from, $b.from] | max);
def ms: . * 1000 | round / 1000;
def length_of: .to - .from;
def near: length_of < 12;
# A wait for a CPU that the scheduler knows of, beside what the stall is for.
def counted($t; $n): $n.cause == "runqueue" and $t.cause != "runqueue" and $t.queued >= 0.8 * ($n | length_of);
def same($t; $n): overlap($t; $n) >= 0.5 * ([$t, $n | length_of] | min) and overlap($t; $n) > 0;
def ran($n): $n.cause == "self" and any($ran[0][]; same(.; $n) and .ran >= 0.8 * ($n | length_of));
def waits_for_asker($tids): . as $stall | (.cause | IN("ipc", "lock")) and ([.tid] | inside($tids) | not)
    and any($tids[]; . == $stall.links[0].wait.waker_tid);
def is_machines: $emulated and $makes != "runqueue" and .cause == "runqueue";

($begin_ns / 1e6) as $begin | ($until_ns / 1e6) as $until
| .window.monotonic_start_ms as $zero
| ([$truth[].tid] | unique) as $tids
| [.stalls[] | select(($emulated and waits_for_asker($tids)) | not)
   | {from: ($zero + .start_ms), cause, id, pid} + {to: ($zero + .start_ms + .duration_ms)}
   | select($alone or (.pid as $pid | any($pids[]; . == $pid)))
   | select(.from >= $begin - 0.5 and .from < $until)] as $named
| [$truth[] | select(.from >= $begin) | if is_machines then .cause = "unclear" else . end] as $truth
| reduce ($truth | sort_by(-length_of))[] as $t (
    {left: $named, pairs: []};
    . as $state
    | ([.left[] | select(same($t; .))] | max_by([(counted($t; .) | not), overlap($t; .)])) as $n
    | if $n then
        .left = [$state.left[] | select(.id != $n.id)] | .pairs += [{t: $t, n: $n}]
      else
        .pairs += [{t: $t, n: null}]
      end)
| . as $state
| ($state.pairs[]
   | select(.n or (.t | near | not))
   | "\(.t.cause) \(.n.cause // "(missed)") \(.t | length_of | ms) \(if .n then (.n | length_of | ms) else 0 end) \(.t.from - $begin | ms)"),
  ($state.left[]
   | select(is_machines | not)
   | . as $n
   | select(ran($n) | not)
   | (if any($truth[]; same(.; $n) and counted(.; $n)) then "runqueue"
      elif any($truth[]; same(.; $n)) then "(again)"
      else "(none)" end) as $expected
   | "\($expected) \(.cause) 0 \(length_of | ms) \(.from - $begin | ms)")
