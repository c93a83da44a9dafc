// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// A Go program whose goroutines wait: for an answer on a socket, and for each other on a channel.
// It begins when a line comes on its standard input and ends after 40 answers.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const answers = 40

//go:noinline
func answerLate(conn net.Conn) {
	request := make([]byte, 1)
	for {
		if _, err := io.ReadFull(conn, request); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
		conn.Write(request)
	}
}

// Blocks its thread: the descriptor is not the runtime's to poll.
//
//go:noinline
func awaitAnswer(file *os.File) {
	answer := make([]byte, 1)
	if _, err := file.Read(answer); err != nil {
		panic(err)
	}
}

//go:noinline
func ask(conn net.Conn, file *os.File) {
	conn.Write([]byte("?"))
	awaitAnswer(file)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		conn, _ := listener.Accept()
		answerLate(conn)
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		panic(err)
	}
	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		panic(err)
	}
	file.Fd() // makes it a blocking one
	fmt.Printf("ready pid=%d\n", os.Getpid())
	bufio.NewReader(os.Stdin).ReadString('\n')
	asked := make(chan int)
	go func() {
		for i := 0; i < answers; i++ {
			ask(conn, file)
			asked <- i
		}
		close(asked)
	}()
	for range asked {
	}
	fmt.Println("done")
}
