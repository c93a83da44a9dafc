# Make: `make check-stalls` fails when the test stalls on the network. Include it, and set TEST.
TEST ?= ./integration-test
NETSTALL ?= netstall
# Tracing takes root; the test itself runs as the user who called sudo.
SUDO ?= $(if $(filter 0,$(shell id -u)),,sudo)
STALL_BUDGET ?= nagle-delack=0,cork=0,rto=0,syn-retransmit=0

.PHONY: check-stalls
check-stalls:
	$(SUDO) $(NETSTALL) check --budget '$(STALL_BUDGET)' --timeout 600 -- $(TEST)
