// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// com.sun.net.httpserver: java Server PORT. /sleep sleeps for 30 ms, /gc collects a heap of
// a million objects, /body answers at once, in two writes.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

public class Server {
    private static final Object[] live = new Object[1000000];

    private static void answer(HttpExchange exchange) throws java.io.IOException {
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);

        for (int i = 0; i < live.length; i++)
            live[i] = new int[4];
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/sleep", exchange -> {
            try {
                Thread.sleep(30);
            } catch (InterruptedException e) {
                return;
            }
            answer(exchange);
        });
        server.createContext("/gc", exchange -> {
            System.gc();
            answer(exchange);
        });
        server.createContext("/body", exchange -> {
            exchange.sendResponseHeaders(200, 5);
            exchange.getResponseBody().write("done\n".getBytes());
            exchange.close();
        });
        server.start();
    }
}
