// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// A request in two writes, by Java's sockets; with `late` in one, and the server takes its time; with `lock` it waits for a lock
// that another thread keeps; with `burn` it computes; with `http` an HttpServer's handler answers in two. The lines that matter are marked.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.ReentrantLock;

public class Split {
    static final ReentrantLock lock = new ReentrantLock();

    static void serve(Socket conn) throws Exception {
        byte[] request = new byte[4096];
        for (int had = 0, got; (got = conn.getInputStream().read(request)) > 0;)
            for (had += got; had >= 176; had -= 176)
                conn.getOutputStream().write(new byte[4]);
    }

    static void serveLate(Socket conn) throws Exception {
        while (conn.getInputStream().readNBytes(176).length == 176) {
            Thread.sleep(30); // late wait
            conn.getOutputStream().write(new byte[4]); // late answer
        }
    }

    static void keepLock() throws Exception {
        while (true) {
            lock.lock();
            Thread.sleep(30); // lock sleep
            lock.unlock(); // lock release
            Thread.sleep(10);
        }
    }

    static void takeLock() throws Exception {
        while (!lock.isLocked())
            Thread.sleep(1);
        lock.lock(); // lock wait
        lock.unlock();
    }

    static void serveLocked(Socket conn) throws Exception {
        start(Split::keepLock);
        while (conn.getInputStream().readNBytes(176).length == 176) {
            takeLock();
            conn.getOutputStream().write(new byte[4]);
        }
    }

    static long compute(long until) {
        long count = 0;
        while (System.nanoTime() < until)
            count++;
        return count;
    }

    static void serveComputed(Socket conn) throws Exception {
        while (conn.getInputStream().readNBytes(176).length == 176) {
            compute(System.nanoTime() + 30_000_000);
            conn.getOutputStream().write(new byte[4]);
        }
    }

    static void answer(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, 300); // http first
        exchange.getResponseBody().write(new byte[300]); // http second
        exchange.close();
    }

    static void request(Socket conn) throws Exception {
        conn.getOutputStream().write(new byte[40]); // first
        conn.getOutputStream().write(new byte[136]); // second
        conn.getInputStream().read(new byte[4]);
    }

    static void askLate(Socket conn) throws Exception {
        conn.getOutputStream().write(new byte[176]);
        conn.getInputStream().read(new byte[4]); // late read
    }

    static void askHttp(Socket conn) throws Exception {
        conn.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes());
        InputStream in = conn.getInputStream();
        for (int zeros = 0; zeros < 300;)
            zeros += in.read() == 0 ? 1 : 0;
    }

    interface Work {
        void run() throws Exception;
    }

    static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    static void serveAs(String mode, Socket conn) throws Exception {
        conn.setTcpNoDelay(!mode.isEmpty());
        switch (mode) {
        case "late": serveLate(conn); break;
        case "lock": serveLocked(conn); break;
        case "burn": serveComputed(conn); break;
        default: serve(conn);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length > 0 ? args[0] : "";
        InetAddress here = InetAddress.getLoopbackAddress();
        int port;
        if (mode.equals("http")) {
            HttpServer server = HttpServer.create(new InetSocketAddress(here, 0), 1);
            server.createContext("/", Split::answer);
            server.start();
            port = server.getAddress().getPort();
        } else {
            ServerSocket listener = new ServerSocket(0, 1, here);
            start(() -> serveAs(mode, listener.accept()));
            port = listener.getLocalPort();
        }
        Socket conn = new Socket(here, port);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        for (int i = 0; i < 30; i++) {
            if (mode.equals("http"))
                askHttp(conn);
            else if (mode.isEmpty())
                request(conn);
            else
                askLate(conn);
        }
        System.exit(0);
    }
}
