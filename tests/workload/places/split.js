// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// A request in two writes, by Node's sockets. V8 says of a function where it begins: these are marked.
const net = require("net");

function answer(conn) {
  let had = 0;
  conn.on("data", (data) => {
    for (had += data.length; had >= 176; had -= 176) conn.write("done");
  });
}

// prettier-ignore
function request(conn) { // first // second
  conn.write(Buffer.alloc(40));
  conn.write(Buffer.alloc(136));
}

const server = net.createServer(answer);
server.listen(0, "127.0.0.1", () => {
  const conn = net.connect(server.address().port, "127.0.0.1", () => {
    let count = 0;
    conn.setNoDelay(false);
    conn.on("data", () => (++count < 60 ? request(conn) : process.exit(0)));
    process.stdin.once("data", () => request(conn));
    console.log("ready", process.pid);
  });
});
