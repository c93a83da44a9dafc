// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A server of HTTP/1 or HTTP/2: node server.js 1|2 PORT. /compute computes for 20 ms, /timer answers by a timer of 30 ms.
const [, , version, port] = process.argv
const answer = (res) => res.end('done\n')
const handle = (req, res) => {
    if (req.url === '/timer') return setTimeout(answer, 30, res)
    const until = process.hrtime.bigint() + 20000000n
    let sum = 0
    while (process.hrtime.bigint() < until) for (let i = 0; i < 1000; i++) sum += i
    answer(res)
}
const server = require(version === '2' ? 'http2' : 'http').createServer(handle)
server.keepAliveTimeout = 60000 // between the first request and the gate
server.listen(port, '127.0.0.1')
