# What a golden trace compares of its JSON report, where it does not compare all of it: words for a trace's line `# json:`.
# Each gives lines for a reader. `brief` comes always; run.sh says how the rest is chosen.

def ms: "\(.) ms";
def thread: "\(.pid)/\(.tid)";
def connection: if . then "connection \(.)" else "no connection" end;
def list(f): map(f) | join(", ");
def each_stall(what; f): .stalls[] | "stall \(.id) \(what): \(f)";

# Every stall: cause, time, whose, of which parts.
def stalls:
    .stalls[] | "stall \(.id): \(.cause) \(.confidence), \(.start_ms) + \(.duration_ms | ms) = "
        + (.slices | list("\(.cause) \(.ms)")) + "; \(.connection | connection), peer \(.peer), thread \(thread)"
        + if .exact then "" else ", inexact" end + if .open then ", open" else "" end;

# The records that a stall rests on: time, type, connection.
def evidence: each_stall("evidence"; .evidence | list("\(.t_ms) \(.event) \(.conn)"));

def brief: "verdict \(.verdict.cause), \(.completeness.events) events, complete \(.completeness.complete)", stalls, evidence;

# Fields of the records of one type among them.
def records($type; f): .stalls[] | .id as $id | .evidence[] | select(.event == $type) | "stall \($id) \($type) at \(.t_ms): \(f | tojson)";
def held: each_stall("held"; "\(.held_bytes) B by \(.held_by), released by \(.released_by)");
def reasons: each_stall("reasons"; {inferred, missing} | tojson);
def waits: each_stall("waits"; "\(.wait_count): " + (.waits | list("\(thread) \(.off_ms) + \(.duration_ms | ms) \(.connection | connection)")));
def stacks: each_stall("stacks"; .stacks | tojson);
def sites: each_stall("sites"; .sites.places | tojson);
def busy: each_stall("busy"; {busy: .sites.busy, busy_looks: .sites.busy_looks} | tojson);
# What a thread did between its waits, by its counts.
def spent: .stalls[] | .id as $id | .links[].wait | "stall \($id) spent: \(with_entries(select(.key | test("^(spent|run|ready|short)"))) | tojson)";
def retransmission: each_stall("sent again"; "\(.retransmits) times, \(.retransmission | del(.t_ms, .event, .conn, .tgid, .tid, .cpu) | tojson)");
def queue: each_stall("queue"; .listen_queue | tojson);
def ran: .stalls[] | "stall \(.id): \({ran} | tojson)";
def throttled: .stalls[] | "stall \(.id): \({throttle} | tojson)";
def parts:
    .stalls[] | .id as $id | .parts | to_entries[]
        | "stall \($id) part \(.key) of \(.value.parent): " + (.value | "\(.kind) \(.own_ms | ms) of \(.total_ms), \(.cause), \(.comm) \(thread), \(.syscall), \(.connection | connection), \(.count)");
def links:
    .stalls[] | .id as $id | .links[]
        | "stall \($id) link: \(.cause) \(.start_ms) + \(.duration_ms | ms), \(.connection | connection), thread \(thread), stacks \(.stacks | tojson)",
          "stall \($id) link's wait: " + (.wait | with_entries(select(.key | test("^(op_|waker_|syscall|turn|conn|off|began|wake)"))) | tojson);

# Of the whole report.
# Of a whole machine, by process.
def whole_machine: (.processes[] | "whole machine \(tojson)"), "not listed \({processes_not_listed} | tojson)";
def causes: .causes[] | "cause \(tojson)";
def between: each_stall("between"; {between_requests} | tojson);
def completeness: "completeness \(.completeness | tojson)";
def saved: "verdict saves \(.verdict | {saves_ms, saves_of_ms, share} + with_entries(select(.key == "saves_at")) | tojson)", (.verdict.parts[] | "verdict part \(tojson)");
def unanswered: "unanswered \(.completeness | {unanswered_requests, unanswered_median_ms} | tojson)";
def open_requests: "open \({open_requests} | tojson)";
def failed_connects: .failed_connects[] | "failed connects \(tojson)";
def full_listen_queues: .full_listen_queues[] | "full listen queue \(tojson)";
def waited: "waited \(.waited | tojson)";
def processes: .target.processes[] | "process \(tojson)";
def threads: .threads[] | "thread \(tojson)";
def connections(f): .connections[] | "connection \(.id): \(f | tojson)";
def requests: .requests[] | "requests \(tojson)";
def rings: .uring.rings[] | "ring \(tojson)";
def operations: .uring.operations[] | "operations \(tojson)";

# A check's JSON in lines. Its report is that of its trace; $trace holds this one's JSON.
def check:
    del(.gates, .doubts, .others, .report) as $rest
        | ($rest | to_entries[] | "\(.key): \(.value | tojson)"),
          (.gates[] | "gate \(tojson)"), (.doubts[] | "doubt \(tojson)"), (.others[] | "other \(tojson)"),
          if .report == null then "report: none" elif .report == $trace[0] then "report: that of the trace" else "report: \(.report | tojson)" end;
