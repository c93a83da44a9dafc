// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
'use strict';
// A Node program that waits: for answers on a socket in its event loop, and where a function of
// its own blocks (Atomics.wait). It begins when a line comes on its standard input.
const net = require('net');

const cell = new Int32Array(new SharedArrayBuffer(4));

function blockInJavaScript() {
    Atomics.wait(cell, 0, 0, 20);
}

function onAnswer() {
    blockInJavaScript();
}

const server = net.createServer((peer) => {
    peer.on('data', (data) => setTimeout(() => peer.write(data), 20));
    peer.on('error', () => {});
});

server.listen(0, '127.0.0.1', () => {
    const client = net.connect(server.address().port, '127.0.0.1', () => {
        console.log(`ready pid=${process.pid}`);
    });
    let answers = 0;
    client.on('data', () => {
        onAnswer();
        if (++answers === 30) {
            console.log('done');
            process.exit(0);
        }
        client.write('?');
    });
    process.stdin.once('data', () => client.write('?'));
});
