// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Resolves each line of its input by getaddrinfo(), in a thread of libuv's pool, and says when that is done.
'use strict';
const dns = require('dns');
require('readline').createInterface({ input: process.stdin }).on('line', (name) => {
  dns.lookup(name, { family: 4 }, (error, address) => console.log(error ? error.message : address));
});
