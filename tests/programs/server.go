// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// net/http: server PORT. Every request is answered after a sleep of 30 ms.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(30 * time.Millisecond)
		fmt.Fprintln(w, "done")
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
