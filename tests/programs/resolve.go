// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// Resolves each line of its input by Go's own resolver, and says when that is done.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
)

func main() {
	resolver := &net.Resolver{PreferGo: true}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(resolver.LookupHost(context.Background(), in.Text()))
	}
}
