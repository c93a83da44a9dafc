// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// Sleeps 12 ms at a time, below many chains of calls of all kinds, and prints its part of each chain as the virtual machine itself
// has it: "truth main (Deep.java:1);...". Before that it goes through so many others without a sleep: then what is called often is compiled.
//
//    java Deep WARM
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

public class Deep {
    interface Node {
        int go(int a, long b, double c);
    }

    static final Node[] nodes = {Deep::plain, Deep::array, Deep::guarded, Deep::finallyDone, Deep::numbers, Deep::outer,
                                 Deep::monitor, Deep::listed, (a, b, c) -> next(a, b + 1, c), new Deep()::virtual};
    static final Set<String> seen = new HashSet<>();
    static int[] path;
    static int at;
    static boolean sleeps;
    static volatile int sink;

    static int next(int a, long b, double c) {
        return at == path.length ? leaf(a) : nodes[path[at++]].go(a + 1, b * 3, c / 2);
    }

    static int leaf(int a) {
        if (!sleeps)
            return a;
        StringBuilder text = new StringBuilder("truth ");
        StackTraceElement[] frames = Thread.currentThread().getStackTrace();
        for (int i = frames.length - 1; i > 1; i--)
            if (frames[i].getClassName().equals("Deep"))
                text.append(frames[i].getMethodName()).append(" (").append(frames[i].getFileName()).append(':')
                    .append(frames[i].getLineNumber()).append(");");
        if (seen.add(text.toString()))
            System.out.println(text);
        nap();
        return a;
    }

    static void nap() {
        try {
            Thread.sleep(12);
        } catch (InterruptedException e) {
            System.exit(1);
        }
    }

    static int plain(int a, long b, double c) {
        return next(a, b, c);
    }

    static int array(int a, long b, double c) {
        int[] some = new int[1 + a % 7];
        some[0] = a;
        int result = next(some[0], b, c);
        return result + some.length;
    }

    static synchronized int guarded(int a, long b, double c) {
        return a < 0 ? 0 : next(a, b, c);
    }

    static int finallyDone(int a, long b, double c) {
        try {
            return next(a, b + 1, c);
        } finally {
            sink++;
        }
    }

    static int numbers(int a, long b, double c) {
        double root = Math.sqrt(c + a);
        long other = b ^ a;
        int f = a * 3, g = a + 7, h = f * g;
        if (h == 42)
            return 0;
        return next(f % 100, other, root) + g + h + (int) other;
    }

    static int outer(int a, long b, double c) {
        return a < 0 ? 1 : inner(a, b, c);
    }

    private static int inner(int a, long b, double c) {
        sink = a;
        return next(a, b, c);
    }

    static int monitor(int a, long b, double c) {
        Object some = "x" + a;
        synchronized (some) {
            return next(a, some.hashCode(), c) + some.hashCode();
        }
    }

    static int listed(int a, long b, double c) {
        int[] result = {0};
        Arrays.asList(a, -1).forEach(v -> {
            if (v != -1)
                result[0] += next(v, b, c);
        });
        return result[0];
    }

    int virtual(int a, long b, double c) {
        return next(a, b + hashCode() % 2, c);
    }

    static int[] choose(Random random) {
        int[] chosen = new int[1 + random.nextInt(9)];
        for (int i = 0; i < chosen.length; i++)
            chosen[i] = random.nextInt(nodes.length);
        return chosen;
    }

    static void call(int[] chosen) {
        path = chosen;
        at = 0;
        next(1, 2, 3.5);
    }

    public static void main(String[] args) throws Exception {
        Random random = new Random(7);
        int[][] paths = new int[24][];
        for (int i = 0; i < paths.length; i++)
            paths[i] = choose(random);
        for (int i = 0; i < Integer.parseInt(args[0]); i++)
            call(choose(random));
        sleeps = true;
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        for (int i = 0; i < 8 * paths.length; i++)
            call(paths[i % paths.length]);
        System.exit(0);
    }
}
