# Says where the report's verdict is not the scene's: one line for each fault, none when all is right.
#
# Input: the report. $cause: what it must lead with; $part_ns: what that took of the requests' time; $requests[0]: the time of
# each, ms, by the clock of the one who made it; $queued_ns: the scene's threads waited for a CPU; $says, $never: regular
# expressions for the sentences; $part: kind and cause of the part with most time, likewise; $role: whether its requests are such as the target "makes" or "serves".
# $emulated: the machine's times wander, so of the figures none is compared.
# Before a fault "busy: ..." when the machine itself took more than a tenth of the requests' time.

def ms: . * 100 | round / 100;
def percent: . * 100 | round;
def rank($hundredths): sort | .[(length * $hundredths / 100 | ceil) - 1];
def differs($made; $part): (. - $made | fabs) > $part * $made + 0.3;

$requests[0] as $requests
| ($requests | add // 0) as $time
| .verdict as $verdict
| ([$verdict | .title, .text, (.advice // [])[]] | map(select(.)) | join("\n")) as $sentences
| (first(.requests[] | select(.connection == null and (.role // "makes") == $role)) // null) as $seen
# The report's shares are of the time it watched, which is longer than the scene.
| ((first(.causes[] | select(.cause == $cause) | .share) // 0) * .window.duration_ms) as $took
| ($part_ns / 1e6) as $made
| [
  if ($verdict.cause // "none") != $cause then
    "the verdict is \($verdict.cause // "none") (\($verdict.title // "no stall")), not \($cause); requests of \($requests | rank(50) // 0 | ms) ms"
  else
    if ($emulated | not) and $cause != "none" and $made > 0 and $time > 0 and ($took - $made | fabs) > 0.1 * $time then
      "\($cause) is \($took / $time | percent)% of the requests' time, not \($made / $time | percent)%"
    else empty end,
    ($verdict.parts // [] | max_by(.own_ms) // {} | "\(.kind) \(.cause)") as $largest
    | if $part != "" and ($largest | test($part) | not) then
        "its largest part is \($largest), not \($part)"
      else empty end,
    if $says != "" and ($sentences | test($says) | not) then
      "nothing says \"\($says)\": \($sentences | gsub("\n"; " "))"
    else empty end,
    if $never != "" and ($sentences | test($never)) then
      "it says \"\($never)\": \($sentences | gsub("\n"; " "))"
    else empty end
  end,
  if $time == 0 or ($emulated and $seen != null) then empty
  elif $seen == null then "no request seen of \($requests | length)"
  else
    # Each one is chosen a turn ahead: of a connection that was there before, all but the first one are.
    ($requests | rank(50)) as $median | ($requests | rank(99)) as $p99
    | (if $seen.sampled == $seen.count - 1 and ($requests | length) > 1 then $requests[1:] else $requests end | rank(99)) as $later
    | if $seen.median.total_ms | differs($median; 0.05) then
        "median request \($seen.median.total_ms | ms) ms of \($seen.count), not \($median | ms) ms of \($requests | length)"
      else empty end,
      if ($seen.p99.total_ms | differs($p99; 0.1)) and ($seen.p99.total_ms | differs($later; 0.1)) then
        "p99 request \($seen.p99.total_ms | ms) ms, not \($p99 | ms) ms"
      else empty end
  end
]
| if length > 0 and ($cause | IN("runqueue", "throttled") | not) and $queued_ns / 1e6 > 0.1 * $time and $time > 0 then
    ["busy: its threads waited for a CPU in \($queued_ns / 1e6 / $time | percent)% of its requests' time"] + .
  else . end
| .[]
