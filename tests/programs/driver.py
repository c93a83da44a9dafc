#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""
Real programs under requests whose time is known: driver.py CASE FOLDER, or driver.py --list.

Starts the programs of the case, prints `ready client=PID server=PID [children=1]`, waits for a line on stdin, makes
the requests by its own clock, and prints a JSON line: how long they took, and the truth of each view (what is traced).
"""
import ctypes
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = {}


class Missing(Exception):
    """A program that is not installed."""


class Play:
    """The programs of one case, and the requests that were made."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []
        self.requests = []  # begin, end, and of that time how long who asks was ready and had no CPU, s
        self.truth = {}
        self.traced = []
        self.ready_ms = 0  # what these had waited for a CPU before they were watched
        self.delay_ms = 0  # likewise at the gate

    def start(self, *command, **options):
        if not shutil.which(command[0]):
            raise Missing(command[0])
        log = open(os.path.join(self.folder, os.path.basename(command[0]) + ".log"), "ab")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)
        self.started.append(process.pid)
        return process.pid

    def fork(self, name, function, *arguments):
        """A process of this program, by a name of its own."""
        pid = os.fork()
        if pid:
            self.started.append(pid)
            return pid
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        call_me(name)
        try:
            function(*arguments)
        except (OSError, EOFError):
            pass
        finally:
            os._exit(0)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def go_first(self):
        """What else runs on this machine is no part of the truth."""
        for pid in [os.getpid(), *self.started]:
            for one in family(pid):
                go_first(one)

    def gate(self, server, client=None, children=False):
        """Returns when the requests are to begin."""
        call_me("asker")
        self.traced = [client or os.getpid(), *self.started]
        self.go_first()
        self.ready_ms = delay_ms(self.traced)
        print(f"ready client={self.traced[0]} server={server}{' children=1' if children else ''}", flush=True)
        os.set_blocking(0, False)
        read_quietly(0)
        self.delay_ms = delay_ms(self.traced)

    def request(self, function, *arguments):
        delay, begin = own_delay(), time.monotonic()
        said = function(*arguments)
        self.requests.append((begin, time.monotonic(), own_delay() - delay))
        return said

    def expect(self, views, cause, words="", part=1.0, besides="", never=""):
        """What is true of these views: cause (several: it can be seen either way), what the verdict has to name, the part of the
        requests' time that it takes, causes that may stand beside it, what the verdict must not say."""
        for view in views.split():
            self.truth[view] = {"cause": cause.split("|"), "words": words, "part": part, "besides": besides.split(), "never": never}

    def has_more_requests(self, views):
        """Than the driver's own, or others: they are not compared."""
        for view in views.split():
            self.truth[view]["more_requests"] = True

    def tell(self):
        took = sorted(1000 * (end - begin) for begin, end, _ in self.requests)
        served = sorted(1000 * (end - begin - delay) for begin, end, delay in self.requests)  # who answers sees no more
        busy = last = 0
        for begin, end, _ in sorted(self.requests):
            busy += max(0, end - max(begin, last))
            last = max(last, end)
        delay = delay_ms(self.traced)
        requests = {"count": len(took), "busy_ms": round(1000 * busy, 3), "ready_ms": round(max(0, delay - self.ready_ms), 3),
                    "machine_ms": round(max(0, delay - self.delay_ms), 3)}
        for who, times in ("", took), ("served_", served):
            if times:
                requests[f"{who}median_ms"] = round(statistics.median(times), 3)
                requests[f"{who}p99_ms"] = round(times[min(len(times) - 1, int(0.99 * len(times)))], 3)
        print(json.dumps({"requests": requests, "truth": self.truth}), flush=True)

    def end(self):
        """What was started, and what that started."""
        for pid in self.started:
            for one in reversed(family(pid)):
                try:
                    os.kill(one, signal.SIGKILL)
                except ProcessLookupError:
                    pass


def family(pid):
    pids = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                for child in file.read().split():
                    pids += family(int(child))
    except OSError:
        pass
    return pids


def own_delay():
    """How long this thread was ready to run and had no CPU, s."""
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def delay_ms(pids):
    """How long the threads of these processes, and of what they started, were ready to run and had no CPU."""
    delay = 0
    for pid in {one for pid in pids for one in family(pid)}:
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                    delay += int(file.read().split()[1])
        except OSError:
            pass
    return delay / 1e6


def go_first(pid):
    try:
        os.setpriority(os.PRIO_PROCESS, pid, -15)
        with open(f"/proc/{pid}/autogroup", "w") as file:
            file.write("-15")
    except OSError:
        pass


def call_me(name):
    with open("/proc/self/comm", "w") as file:
        file.write(name)


def case(function, views="client server both"):
    CASES[function.__name__] = (function, views.split())
    return function


def case_of(views):
    return lambda function: case(function, views)


def free_port():
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def connect(to, limit=20):
    """to: a port, or the path of a Unix socket."""
    until = time.monotonic() + limit
    while True:
        try:
            if isinstance(to, str):
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(to)
                return connection
            connection = socket.create_connection(("127.0.0.1", to))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def listen():
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", 0))
    server.listen(64)
    return server, server.getsockname()[1]


def read_exactly(connection, size):
    got = b""
    while len(got) < size:
        piece = connection.recv(size - len(got))
        if not piece:
            raise EOFError
        got += piece
    return got


def read_until(connection, end):
    got = b""
    while end not in got:
        piece = connection.recv(65536)
        if not piece:
            raise EOFError
        got += piece
    return got


# ---- HTTP ----

def get(connection, path):
    connection.sendall(b"GET %s HTTP/1.1\r\nHost: here\r\n\r\n" % path.encode())
    said = read_until(connection, b"\r\n\r\n")
    head, _, body = said.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            while len(body) < int(value):
                body += connection.recv(65536)
            break
    else:
        while not body.endswith(b"0\r\n\r\n"):  # chunked
            body += connection.recv(65536)
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise OSError(head)


def get_once(port, path):
    with connect(port) as connection:
        get(connection, path)


def ask_often(play, port, path, count):
    connection = connect(port)
    get(connection, path)
    yield connection
    for _ in range(count):
        play.request(get, connection, path)


def get_http2(connection, stream):
    """GET / on a stream: the header by numbers of HPACK's static table. Returns when the stream has ended."""
    header = b"\x82\x86\x84\x41\x04here"
    connection.sendall(len(header).to_bytes(3, "big") + b"\x01\x05" + stream.to_bytes(4, "big") + header)
    while True:
        head = read_exactly(connection, 9)
        read_exactly(connection, int.from_bytes(head[:3], "big"))
        if int.from_bytes(head[5:], "big") == stream and head[3] in (0, 1) and head[4] & 1:
            return


def slow_upstream(server, seconds):
    """Serves each connection by a thread that sleeps."""
    def serve(connection):
        try:
            while True:
                read_until(connection, b"\r\n\r\n")
                time.sleep(seconds)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ndone\n")
        except (OSError, EOFError):
            connection.close()
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


# ---- Redis ----

def redis(connection, *words):
    connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
    said = read_until(connection, b"\r\n")
    if said[:1] == b"*":  # of two bulk strings
        while said.count(b"\r\n") < 5:
            said += connection.recv(65536)
    if said[:1] == b"-":
        raise OSError(said)
    return said


def start_redis(play):
    port = free_port()
    pid = play.start("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                     "--dir", play.folder)
    return pid, port


def read_quietly(pipe):
    """Waits for a byte, and never for as long as netstall would name."""
    while True:
        try:
            return os.read(pipe, 1)
        except BlockingIOError:
            time.sleep(0.002)


def amount_for(play, seconds, work, base):
    """How much of the work takes that long."""
    play.go_first()
    fastest = min(timed(work, base) for _ in range(4))
    return int(base * seconds / fastest)


def timed(work, amount):
    begin = time.monotonic()
    work(amount)
    return time.monotonic() - begin


@case_of("server")
def redis_idle(play):
    """Its clock wakes it up ten times a second, while a client is there and asks nothing."""
    server, port = start_redis(play)
    connection = connect(port)
    play.gate(server)
    time.sleep(1.2)
    connection.close()
    play.expect("server", "none")


@case
def redis_pop(play):
    """A worker's blocking pop, which gets a push after 80 ms."""
    server, port = start_redis(play)
    connection = connect(port)
    pushes, told = os.pipe()

    def push():
        own = connect(port)
        while os.read(pushes, 1):
            time.sleep(0.080)
            redis(own, b"LPUSH", b"queue", b"job")
    play.fork("pusher", push)
    play.gate(server)
    for _ in range(15):
        os.write(told, b"x")
        play.request(redis, connection, b"BLPOP", b"queue", b"0")
    play.expect("client server both", "peer-app|timer", "pusher")
    play.has_more_requests("server")


@case
def redis_script(play):
    """A Lua script that computes for about 25 ms."""
    server, port = start_redis(play)
    connection = connect(port)

    def script(rounds):
        redis(connection, b"EVAL", b"local s = 0 for i = 1, %d do s = s + i %% 7 end return s" % rounds, b"0")
    rounds = amount_for(play, 0.025, script, 500000)
    play.gate(server)
    for _ in range(30):
        play.request(script, rounds)
    play.expect("client", "peer-app", "redis.*comput")
    play.expect("server", "self", "redis.*comput")
    play.expect("both", "self|peer-app", "redis.*comput")


# ---- PostgreSQL ----

class Postgres:
    """The protocol's simple queries."""

    def __init__(self, to):
        self.connection = connect(to)
        start = b"\0\3\0\0user\0postgres\0database\0postgres\0\0"
        self.connection.sendall((len(start) + 4).to_bytes(4, "big") + start)
        self.pid = None
        self.await_message(b"Z")

    def await_message(self, wanted):
        while True:
            head = read_exactly(self.connection, 5)
            body = read_exactly(self.connection, int.from_bytes(head[1:], "big") - 4)
            if head[:1] == b"E":
                raise OSError(body)
            if head[:1] == b"K":
                self.pid = int.from_bytes(body[:4], "big")
            if head[:1] == wanted:
                return

    def query(self, text):
        text = text.encode() + b"\0"
        self.connection.sendall(b"Q" + (len(text) + 4).to_bytes(4, "big") + text)
        self.await_message(b"Z")


def start_postgres(play, unix=False):
    """unix: by a Unix socket alone. Returns its process, what connect() needs, and a connection."""
    programs = sorted(os.listdir("/usr/lib/postgresql")) if os.path.isdir("/usr/lib/postgresql") else []
    if not programs:
        raise Missing("postgresql")
    programs = f"/usr/lib/postgresql/{programs[-1]}/bin"
    data, port = os.path.join(play.folder, "data"), free_port()
    to = f"{data}/.s.PGSQL.{port}" if unix else port
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    os.chmod(play.folder, 0o755)
    made = os.environ.get("PGDATA_MADE")  # of an earlier case
    if made and os.path.isdir(made):
        subprocess.run(["cp", "-a", made, data], check=True)
    else:
        os.mkdir(data)
        shutil.chown(data, "postgres", "postgres")
        subprocess.run(user + [programs + "/initdb", "-N", "-A", "trust", "-D", data, "-U", "postgres", "--no-instructions"],
                       check=True, stdout=subprocess.DEVNULL, cwd="/")
        if made:
            whole = f"{made}.{os.getpid()}"
            subprocess.run(["cp", "-a", data, whole], check=True)
            try:
                os.rename(whole, made)
            except OSError:  # a case beside this one was first
                shutil.rmtree(whole)
    server = play.start(*user, programs + "/postgres", "-D", data, "-p", str(port),
                        "-c", f"listen_addresses={'' if unix else '127.0.0.1'}",
                        "-c", f"unix_socket_directories={data if unix else ''}",
                        "-c", "fsync=off", "-c", "jit=off", "-c", "autovacuum=off", cwd="/")
    until = time.monotonic() + 20
    while True:
        try:
            return server, to, Postgres(to)
        except (OSError, EOFError):
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


SLEEPS = "select pg_sleep(0.03)"
COMPUTES = """do $$
    declare ends timestamptz := clock_timestamp() + interval '30 ms';
    begin while clock_timestamp() < ends loop end loop; end $$"""


@case
def postgres_sleep(play):
    """A query that sleeps for 30 ms."""
    server, _, base = start_postgres(play)
    play.gate(server, children=True)
    for _ in range(20):
        play.request(base.query, SLEEPS)
    play.expect("client", "peer-app", "postgres.*(sle|time-out)")
    play.expect("server", "timer", "postgres")
    play.expect("both", "timer|peer-app", "postgres.*(sle|time-out)")


@case
def postgres_slow_query(play):
    """A query that computes for 30 ms."""
    server, _, base = start_postgres(play)
    play.gate(server, children=True)
    for _ in range(20):
        play.request(base.query, COMPUTES)
    play.expect("client", "peer-app", "postgres.*comput")
    play.expect("server", "self", "postgres.*comput")
    play.expect("both", "self|peer-app", "postgres.*comput")


def play_row_lock(play, hold):
    """Asks for a row that another client has locked already, and keeps until hold(its connection) returns."""
    server, port, base = start_postgres(play)
    base.query("create table t (i int); insert into t values (1)")
    locks, told = os.pipe()
    has_it, says = os.pipe()

    def lock():
        own = Postgres(port)
        os.write(says, own.pid.to_bytes(4, "big"))
        while os.read(locks, 1):
            own.query("begin; update t set i = i + 1")
            os.write(says, b"x")
            hold(own)
    play.fork("holder", lock)
    pid = int.from_bytes(os.read(has_it, 4), "big")
    os.set_blocking(has_it, False)
    play.gate(server, children=True)
    for _ in range(15):
        os.write(told, b"x")
        read_quietly(has_it)
        play.request(base.query, "update t set i = i - 1")
    return pid


@case
def postgres_row_lock(play):
    """A row that another backend locks for 60 ms, in which it sleeps."""
    pid = play_row_lock(play, lambda own: own.query("select pg_sleep(0.06); commit"))
    by = f"postgres/{pid}.*time-out"
    play.expect("client", "peer-app", by)
    play.expect("server", "ipc|timer", by, besides="ipc timer")
    play.expect("both", "peer-app|ipc|timer", by, besides="peer-app ipc timer")
    play.has_more_requests("server both")


@case
def postgres_open_transaction(play):
    """A row that another backend locks for 60 ms, in which its client sleeps before it commits."""
    def hold(own):
        time.sleep(0.06)
        own.query("commit")
    pid = play_row_lock(play, hold)
    play.expect("client", "peer-app", f"postgres/{pid} waits .* in epoll_wait")
    play.expect("server", "ipc", "holder.*sle")
    play.expect("both", "peer-app|ipc|timer", "holder.*sle", besides="peer-app ipc timer")
    play.has_more_requests("server both")


@case
def postgres_listen(play):
    """LISTEN: nothing is asked, and what comes comes when it comes; between two requests the notifier sleeps."""
    server, port, base = start_postgres(play)
    base.query("listen news")
    ready, go = os.path.join(play.folder, "ready"), os.path.join(play.folder, "go")

    def notify():
        own = Postgres(port)
        own.query("notify others")  # a server process reads what it has to know with the first one
        play.write("ready", "")
        wait_for_file(go)
        for _ in range(20):
            time.sleep(0.050)
            own.query("notify news")
    play.fork("notifier", notify)
    wait_for_file(ready)
    play.gate(server, children=True)
    play.write("go", "")
    for _ in range(20):
        play.request(base.await_message, b"A")
    play.expect("client server", "none")
    play.expect("both", "timer", "notifier.*sle")
    play.has_more_requests("client server both")


@case
def postgres_backends(play):
    """Three connections, of which one asks for something slow."""
    server, port, base = start_postgres(play)
    others = [Postgres(port) for _ in range(3)]
    play.gate(server, children=True)
    for _ in range(20):
        for other in others:
            play.request(other.query, "select 1")
        play.request(base.query, "select pg_sleep(0.03)")
    play.expect("client", "peer-app", "postgres.*(sle|time-out)")
    play.expect("server", "timer", "postgres")
    play.expect("both", "timer|peer-app", "postgres.*(sle|time-out)")


# ---- names ----

def own_names(play, late, address="127.0.0.1", asked="127.0.0.1"):
    """Namespaces of our own, in which a name server at the address answers late seconds after each question. Programs ask the
    one at `asked`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40020000):  # CLONE_NEWNET, CLONE_NEWNS
        raise Missing("network and mount namespaces")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    for path, text in ("/etc/resolv.conf", f"nameserver {asked}\n"), ("/etc/nsswitch.conf", "hosts: dns\n"):
        replace(play, path, text)
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    return play.fork("names", serve_names, server, late)


def replace(play, path, text):
    """What a file says, in the mount namespace of our own."""
    subprocess.run(["mount", "--bind", play.write(os.path.basename(path), text), path], check=True)


def serve_names(server, late):
    while True:
        question, client = server.recvfrom(512)
        end = question.index(b"\0", 12) + 5  # RFC 1035, 4.1
        is_a = question[end - 3] == 1
        answer = b"\xc0\x0c\0\x01\0\x01\0\0\0\0\0\x04\x0a\0\0\x01" if is_a else b""
        time.sleep(late)
        server.sendto(question[:2] + b"\x81\x80\0\x01" + bytes([0, is_a]) + b"\0\0\0\0" + question[12:end] + answer, client)


def play_names(play, *command):
    """A program that resolves what it is told, one name after the other."""
    server = own_names(play, 0.040)
    if not shutil.which(command[0]):
        raise Missing(command[0])
    client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    play.started.append(client.pid)

    def resolve(name):
        client.stdin.write(name.encode() + b".example.org\n")
        client.stdin.flush()
        if not client.stdout.readline():
            raise EOFError(command[0])
    resolve("warm")
    play.gate(server, client=client.pid)
    for i in range(15):
        play.request(resolve, f"host{i}")
    play.expect("client", "dns", "127.0.0.1:53.*names/.*sleeps", besides="udp")
    play.has_more_requests("client")


@case_of("client")
def names_python(play):
    """getaddrinfo() of the C library, in the thread that waits."""
    server = own_names(play, 0.040)
    play.gate(server)
    for i in range(15):
        play.request(socket.getaddrinfo, f"host{i}.example.org", 80, socket.AF_INET, socket.SOCK_STREAM)
    play.expect("client", "dns", "127.0.0.1:53.*names/.*sleeps")
    play.has_more_requests("client")


@case_of("client")
def names_node(play):
    """getaddrinfo() in a thread of libuv's pool."""
    play_names(play, "node", os.path.join(HERE, "resolve.js"))


@case_of("client")
def names_java(play):
    """InetAddress: getaddrinfo() in the thread that waits."""
    play_names(play, "java", "-cp", os.environ.get("MADE", HERE), "Resolve")


@case_of("client")
def names_go(play):
    """Go's own resolver, which waits in epoll."""
    play_names(play, os.path.join(os.environ.get("MADE", HERE), "goresolve"))


FORWARDER, BEHIND = "127.0.0.53", "127.0.0.2"


def play_forwarder(play, server, called):
    """The name server that is asked asks another one, which answers after 40 ms."""
    until = time.monotonic() + 10
    while True:
        try:
            socket.getaddrinfo("warm.example.org", 80, socket.AF_INET, socket.SOCK_STREAM)
            break
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
    play.gate(server)
    for i in range(15):
        play.request(socket.getaddrinfo, f"host{i}.example.org", 80, socket.AF_INET, socket.SOCK_STREAM)
    play.expect("client", "dns", f"{called}.*{FORWARDER}:53.*names/.*sleeps")
    play.expect("server", "dns", f"{BEHIND}:53.*names/.*sleeps")
    play.expect("both", "dns", "names/.*sleeps")
    play.has_more_requests("client server both")


@case
def dnsmasq_forward(play):
    """A forwarder that waits in one poll() for its clients and for the name server behind."""
    own_names(play, 0.040, BEHIND, FORWARDER)
    pid = play.start("dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--user=root", "--pid-file=", "--log-facility=-",
                     "--no-hosts", "--no-resolv", "--bind-interfaces", f"--listen-address={FORWARDER}", f"--server={BEHIND}")
    play_forwarder(play, pid, "dnsmasq")


@case
def unbound_forward(play):
    """A forwarder that waits in epoll, and asks by a new socket each time."""
    if not shutil.which("unbound"):
        raise Missing("unbound")
    own_names(play, 0.040, BEHIND, FORWARDER)
    # AppArmor lets it read its own file only. A question is repeated after 50 ms, unless that is set: a busy machine is slower.
    replace(play, "/etc/unbound/unbound.conf", f"""
server:
    interface: {FORWARDER}
    do-not-query-localhost: no
    module-config: iterator
    infra-cache-min-rtt: 1000
    do-daemonize: no
    use-syslog: no
    username: ""
    chroot: ""
    pidfile: ""
forward-zone:
    name: "."
    forward-addr: {BEHIND}
""")
    play_forwarder(play, play.start("unbound"), "unbound")


# ---- Unix sockets ----

@case_of("client")
def redis_unix(play):
    """A script that computes for 30 ms, asked for through a Unix socket."""
    path = os.path.join(play.folder, "redis.sock")
    server = play.start("redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no")
    connection = connect(path)
    script = b"""local function now() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end
                 local ends = now() + 30000 while now() < ends do end return 1"""

    def ask():
        connection.sendall(b"*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n" % (len(script), script))
        connection.recv(100)
    play.gate(server)
    for _ in range(20):
        play.request(ask)
    play.expect("client", "ipc", "redis.sock.*redis-server.*comput")
    play.has_more_requests("client")


@case
def postgres_unix_sleep(play):
    """A query that sleeps for 30 ms, asked for through a Unix socket."""
    server, _, base = start_postgres(play, unix=True)
    play.gate(server, children=True)
    for _ in range(20):
        play.request(base.query, SLEEPS)
    play.expect("client", "ipc", "s.PGSQL.*postgres.*(sle|time-out)")
    play.expect("server", "timer", "postgres")
    play.expect("both", "timer|ipc", "postgres.*(sle|time-out)")
    play.has_more_requests("client server both")


@case_of("client both")
def postgres_unix_query(play):
    """The same, and it computes for 30 ms. The server alone is not judged: without requests computing is no stall."""
    server, _, base = start_postgres(play, unix=True)
    play.gate(server, children=True)
    for _ in range(20):
        play.request(base.query, COMPUTES)
    play.expect("client both", "ipc", "s.PGSQL.*postgres.*comput")
    play.has_more_requests("client both")


# ---- proxies ----

@case
def nginx_upstream(play):
    """A proxy before a server that sleeps for 30 ms."""
    server, behind = listen()
    play.fork("upstream", slow_upstream, server, 0.030)
    port = free_port()
    pid = play.start("/usr/sbin/nginx", "-p", play.folder, "-c", play.write("nginx.conf", f"""
        daemon off; master_process off; pid nginx.pid; error_log stderr;
        events {{ }}
        http {{
            access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fcgi;
            uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            upstream behind {{ server 127.0.0.1:{behind}; keepalive 4; }}
            server {{
                listen 127.0.0.1:{port};
                location / {{ proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ""; }}
            }}
        }}"""))
    connection = connect(port)
    get(connection, "/")
    play.gate(pid)
    for _ in range(20):
        play.request(get, connection, "/")
    play.expect("client server both", "peer-app", "upstream.*(sle|time-out)")
    play.has_more_requests("both")


@case
def haproxy_queue(play):
    """Three clients, and a server behind that gets one request at a time, of 20 ms."""
    server, behind = listen()
    play.fork("upstream", slow_upstream, server, 0.020)
    port = free_port()
    pid = play.start("/usr/sbin/haproxy", "-db", "-f", play.write("haproxy.cfg", f"""
global
    nbthread 1
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    timeout queue 30s
frontend front
    bind 127.0.0.1:{port}
    default_backend behind
backend behind
    http-reuse always
    server one 127.0.0.1:{behind} maxconn 1
"""))
    connections = [connect(port) for _ in range(3)]
    for connection in connections:
        get(connection, "/")
    play.gate(pid)

    def ask(connection):
        for _ in range(20):
            play.request(get, connection, "/")
    threads = [threading.Thread(target=ask, args=(connection,)) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    play.expect("client server both", "peer-app", "upstream.*(sle|time-out)")
    play.has_more_requests("both")


# ---- servers of HTTP ----

def start_gunicorn(play):
    port = free_port()
    pid = play.start("gunicorn", "-w", "2", "-b", f"127.0.0.1:{port}", "--chdir", HERE, "wsgi")
    get_once(port, "/sleep")
    return pid, port


@case
def gunicorn_sleep(play):
    """A pre-forking server whose handler sleeps for 30 ms."""
    pid, port = start_gunicorn(play)
    play.gate(pid, children=True)
    for _ in range(20):
        play.request(get_once, port, "/sleep")
    play.expect("client", "peer-app", "gunicorn.*(sle|time-out)")
    play.expect("server", "timer", "gunicorn")
    play.expect("both", "timer|peer-app", "gunicorn.*(sle|time-out)")


@case
def gunicorn_compute(play):
    """The same, and it computes for 20 ms."""
    pid, port = start_gunicorn(play)
    play.gate(pid, children=True)
    for _ in range(30):
        play.request(get_once, port, "/compute")
    play.expect("client", "peer-app", "gunicorn.*comput")
    play.expect("server", "self", "gunicorn.*comput")
    play.expect("both", "self|peer-app", "gunicorn.*comput")


@case
def apache_wsgi(play):
    """Apache, of which a thread of many runs a handler in an interpreter within the first one, and sleeps for 30 ms."""
    if not shutil.which("apache2"):
        raise Missing("apache2")
    port = free_port()
    modules = "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in ("mpm_event", "authz_core", "wsgi"))
    conf = play.write("httpd.conf", f"""{modules}ServerName localhost
PidFile {play.folder}/pid
Listen 127.0.0.1:{port}
ErrorLog {play.folder}/errors
KeepAliveTimeout 100
User nobody
Group nogroup
WSGIScriptAlias / {HERE}/wsgi.py
<Directory {HERE}>
Require all granted
</Directory>
""")
    pid = play.start("apache2", "-f", conf, "-D", "FOREGROUND")
    connection = connect(port)
    get(connection, "/sleep")
    play.gate(pid, children=True)
    for _ in range(60):
        play.request(get, connection, "/sleep")
    play.expect("client", "peer-app", "apache2.*sle.*wsgi")
    play.expect("server", "timer", "apache2.*sle", never="listen queue")
    play.expect("both", "timer|peer-app", "apache2.*sle.*wsgi", never="listen queue")


def play_http(play, pid, port, path, count, what, by_itself, never=""):
    """what: the words for what the server does, by_itself: the cause when it is the target, never: what is wrong to say."""
    connection = connect(port)
    for _ in range(3):
        get(connection, path)
    play.gate(pid)
    for _ in range(count):
        play.request(get, connection, path)
    play.expect("client", "peer-app", what, never=never)
    play.expect("server", by_itself, what, never=never)
    play.expect("both", by_itself + "|peer-app", what, never=never)


def start_node(play, version):
    port = free_port()
    return play.start("node", HERE + "/server.js", version, str(port)), port


@case
def node_compute(play):
    """HTTP/1 of Node; the handler computes for 20 ms."""
    play_http(play, *start_node(play, "1"), "/compute", 40, "node.*comput", "self")


@case
def node_timer(play):
    """HTTP/1 of Node, which answers by a timer of 30 ms."""
    play_http(play, *start_node(play, "1"), "/timer", 30, "node", "timer")


@case
def node_http2(play):
    """HTTP/2 of Node; the handler computes for 20 ms."""
    pid, port = start_node(play, "2")
    connection = connect(port)
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" + b"\0\0\0\4\1\0\0\0\0")
    get_http2(connection, 1)
    play.gate(pid)
    for stream in range(3, 83, 2):
        play.request(get_http2, connection, stream)
    play.expect("client", "peer-app", "node.*comput")
    play.expect("server", "self", "node.*comput")
    play.expect("both", "self|peer-app", "node.*comput")


def start_java(play):
    port = free_port()
    if not os.path.exists(os.path.join(os.environ["MADE"], "Server.class")):
        raise Missing("java")
    return play.start("java", "-XX:+UseSerialGC", "-Xms128m", "-Xmx128m", "-cp", os.environ["MADE"], "Server", str(port)), port


@case
def java_sleep(play):
    """Java's HttpServer; the handler sleeps for 30 ms."""
    play_http(play, *start_java(play), "/sleep", 30, "java|hread", "timer")


@case
def java_gc(play):
    """The same; the heap is collected meanwhile, by a thread for which all others stand still: a signal between threads."""
    play_http(play, *start_java(play), "/gc", 25, "VM Thread/[0-9]+ computes", "lock", never="a CPU sooner")


@case
def java_two_writes(play):
    """The same, without a sleep: it writes the header, then the body."""
    play_http(play, *start_java(play), "/body", 30, "", "nagle-delack")
    play.expect("client server both", "nagle-delack", "(java|HTTP|Thread|pool).* two pieces")
    play.has_more_requests("server")  # for the server they are over when the last byte is written


def start_go(play):
    port = free_port()
    server = os.path.join(os.environ["MADE"], "goserver")
    if not os.path.exists(server):
        raise Missing("go")
    return play.start(server, str(port)), port


@case
def go_sleep(play):
    """Go's net/http; the handler sleeps for 30 ms."""
    play_http(play, *start_go(play), "/", 30, "goserver", "timer")


@case
def go_new_connections(play):
    """The same, with a connection for each request."""
    pid, port = start_go(play)
    get_once(port, "/")
    play.gate(pid)
    for _ in range(20):
        play.request(get_once, port, "/")
    play.expect("client", "peer-app", "goserver")
    play.expect("server", "timer", "goserver")
    play.expect("both", "timer|peer-app", "goserver")


@case
def socat_fork(play):
    """A process for each connection, which starts a shell and sleep."""
    port = free_port()
    pid = play.start("socat", f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork", "SYSTEM:read line; sleep 0.04; echo done")

    def ask():
        with connect(port) as connection:
            connection.sendall(b"go\n")
            read_until(connection, b"done")
    ask()
    play.gate(pid, children=True)
    for _ in range(15):
        play.request(ask)
    play.expect("client", "peer-app", "socat|sh|sleep", part=0.9)
    play.expect("server both", "ipc|timer|peer-app", "socat|sh|sleep", part=0.9, besides="ipc timer peer-app")


@case
def dovecot_login(play):
    """IMAP: a wrong password is answered after a second, by another process than the one that holds the connection."""
    port = free_port()
    conf = play.write("dovecot.conf", f"""
base_dir = {play.folder}/run
log_path = {play.folder}/dovecot.log
protocols = imap
ssl = no
disable_plaintext_auth = no
auth_failure_delay = 1 secs
default_internal_user = nobody
default_login_user = nobody
default_internal_group = nogroup
service imap-login {{
  chroot =
  inet_listener imap {{
    address = 127.0.0.1
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
passdb {{
  driver = passwd-file
  args = {play.write("passwd", "user:{PLAIN}right::::::")}
}}
userdb {{
  driver = static
  args = uid=nobody gid=nogroup home={play.folder}
}}
""")
    os.chmod(play.folder, 0o755)
    pid = play.start("/usr/sbin/dovecot", "-F", "-c", conf)

    def login(connection, number):
        connection.sendall(b"a%d login user wrong\r\n" % number)
        read_until(connection, b"a%d NO" % number)
    connection = connect(port)
    read_until(connection, b"\r\n")
    play.gate(pid, children=True)
    play.request(login, connection, 1)
    play.expect("client", "peer-app", "imap-login|auth")
    play.expect("server both", "timer|peer-app|ipc", "auth", besides="timer ipc peer-app")


# ---- curl ----

def wait_for_file(path):
    while not os.path.exists(path):
        time.sleep(0.002)


def gated_curl(play, *arguments):
    """A process that becomes curl when the file `start` is there."""
    if not shutil.which("curl"):
        raise Missing("curl")
    start = os.path.join(play.folder, "start")

    def run():
        wait_for_file(start)
        with open(os.path.join(play.folder, "curl.log"), "ab") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            os.execvp("curl", ["curl", "-s", "-w", "\n%{time_total}\n", *arguments])
    return play.fork("curl", run)


def run_curl(play, pid):
    play.write("start", "")
    if os.waitpid(pid, 0)[1]:
        raise OSError("curl failed")
    end = time.monotonic()
    with open(os.path.join(play.folder, "curl.log"), encoding="utf-8") as log:
        took = float(log.read().split()[-1])  # without its start and its end as a process
    play.requests.append((end - took, end, 0))


@case_of("client")
def curl_continue(play):
    """Expect: 100-continue, which the server never answers: curl's own time-out of a second."""
    server, port = listen()

    def serve():
        connection = server.accept()[0]
        read_until(connection, b"\r\n\r\n")
        read_exactly(connection, 5000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        connection.recv(1)
    reader = play.fork("reader", serve)
    curl = gated_curl(play, "-H", "Expect: 100-continue", "-d", "x" * 5000, f"http://127.0.0.1:{port}/")
    play.gate(reader, client=curl)
    run_curl(play, curl)
    play.expect("client", "timer", "curl.*time-out", part=0.97)


@case_of("client both")
def curl_upload(play):
    """An upload to a server that reads 400 kB every 20 ms."""
    server, port = listen()
    size = 24000000

    def serve():
        connection = server.accept()[0]
        left = size - len(read_until(connection, b"\r\n\r\n").partition(b"\r\n\r\n")[2])
        while left > 0:
            time.sleep(0.020)
            left -= len(connection.recv(min(left, 400000), socket.MSG_WAITALL))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        connection.recv(1)
    reader = play.fork("reader", serve)
    path = play.write("body", "x" * size)
    curl = gated_curl(play, "-H", "Expect:", "-T", path, f"http://127.0.0.1:{port}/")
    play.gate(reader, client=curl)
    run_curl(play, curl)
    play.expect("client", "zero-window|rwnd|sndbuf|peer-app", "reader", besides="zero-window rwnd sndbuf peer-app")
    play.expect("both", "zero-window|rwnd|sndbuf|peer-app|timer", "reader", besides="zero-window rwnd sndbuf peer-app timer")


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{name}.{view}" for name, (_, views) in CASES.items() for view in views))
        return 0
    play = Play(sys.argv[2])
    os.setsid()
    go_first(os.getpid())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        CASES[sys.argv[1]][0](play)
        play.tell()
    except Missing as missing:
        print(f"{missing} is not installed", file=sys.stderr)
        return 77
    finally:
        play.end()
    return 0


sys.exit(main())
