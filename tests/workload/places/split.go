// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// A request in two writes, by Go's standard library. The lines that write are marked.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
)

func serve(listener net.Listener) {
	conn, _ := listener.Accept()
	request := make([]byte, 4096)
	for had := 0; ; {
		got, err := conn.Read(request)
		if err != nil {
			return
		}
		for had += got; had >= 176; had -= 176 {
			conn.Write([]byte("done"))
		}
	}
}

func request(conn net.Conn) {
	conn.Write(make([]byte, 40))  // first
	conn.Write(make([]byte, 136)) // second
	conn.Read(make([]byte, 4))
}

func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	go serve(listener)
	conn, _ := net.Dial("tcp", listener.Addr().String())
	conn.(*net.TCPConn).SetNoDelay(false)
	fmt.Println("ready", os.Getpid())
	bufio.NewReader(os.Stdin).ReadString('\n')
	for i := 0; i < 30; i++ {
		request(conn)
	}
}
